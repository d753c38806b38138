/** Who is calling, as verified by the guard of the binding. Nothing in here was only claimed by the caller. */
export interface AuthInfo {
  /** The identity that state, caches, limits and tasks are bound to. The same caller always has the same one. */
  readonly principal: string;
  /** What the credential permits. Compared with the `scopes` of definitions. */
  readonly scopes?: readonly string[];
  /** The application that calls on the principal's behalf. */
  readonly clientId?: string;
  /** Seconds since the epoch after which the credential is void, as in a JWT's `exp`. Streams end at that time. */
  readonly expiresAt?: number;
  /** Whatever else the guard found out, for handlers. */
  readonly claims?: Readonly<Record<string, unknown>>;
}
