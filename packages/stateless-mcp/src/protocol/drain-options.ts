/** How a server binding is drained. */
export interface DrainOptions {
  /** Milliseconds for running calls to finish in, before they are aborted. Default: 10,000. */
  readonly graceMs?: number;
}
