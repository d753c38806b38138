/**
 * "What you hold is stale": tells every instance which list or resource has another content now, and carries no state.
 * Keys are `tools`, `prompts`, `resources`, or `resource:` and a URI.
 */
export interface ChangeEvent {
  readonly key: string;
  /** Further keys whose listeners want to know: the resources that this one is a part of. */
  readonly within?: readonly string[];
}

/** Brings change events to all instances of a server, the publishing one included. */
export interface ChangeBus {
  publish(event: ChangeEvent): void;
  /** @returns ends the subscription */
  subscribe(listener: (event: ChangeEvent) => void): () => void;
}
