/** Where the answer to one HTTP request goes: one whole answer, or an event stream. Made by each runtime's binding. */
export interface AnswerChannel {
  /** Bytes that were written and that the reader has not taken. */
  readonly bufferedBytes: number;
  /** Whether the reader has taken something since this was last asked, or has nothing to take. */
  hasMoved(): boolean;
  /** Gives one whole answer. `body` is absent for an answer without one. */
  answer(status: number, headers: Readonly<Record<string, string>>, body?: string): void;
  /** Starts an event stream. */
  open(headers: Readonly<Record<string, string>>): void;
  /** Writes to the open stream. */
  write(text: string): void;
  /** Ends the open stream in good order. */
  end(): void;
  /** Breaks the connection off: its reader is dead. */
  destroy(): void;
}

/** What a channel tells about its reader. */
export interface ChannelEvents {
  /** There is room again. */
  drained(): void;
  /** Nothing can be written any more: all is delivered, or the reader is gone. */
  closed(): void;
}
