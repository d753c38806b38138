/** Server-sent events, the little that is written here: one line of JSON per event, and comments as signs of life. */

export const SSE_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  // Keeps nginx and its like from holding events back.
  'X-Accel-Buffering': 'no',
});

export const SSE_COMMENT = ':\n\n';

/** @param json one line, as JSON.stringify makes it */
export function sseEvent(json: string): string {
  return `data: ${json}\n\n`;
}

/** Whether the client takes an event stream. Without saying so, it gets one JSON answer. */
export function acceptsEventStream(accept: string | null): boolean {
  if (accept === null) return false;
  const type = /(?:^|,)[ \t]*text\/event-stream[ \t]*(?:;([^,]*))?(?:,|$)/i.exec(accept);
  return type !== null && !/;?[ \t]*q=0(?:\.0*)?[ \t]*(?:;|$)/i.test(type[1] ?? '');
}
