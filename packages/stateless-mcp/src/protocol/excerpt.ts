const MAX_LENGTH = 100;

/** What somebody sent, short enough to be said back in an error. */
export function excerpt(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
}
