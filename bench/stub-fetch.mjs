import { answerFor } from './contenders/answers.mjs';
import { requestFor } from './requests.mjs';

/** Real answers come in turns of the event loop, some in each; without turns nothing that waits for one ever happens. */
const answersPerTurn = 16;

/** By method: an answer as text, up to its id and from there on. */
const answers = new Map();
for (const operation of ['tools/call', 'tools/list', 'server/discover']) {
  answers.set(operation, (await answerFor({ ...requestFor(operation, 1), id: '' })).split('"id":""'));
}
let count = 0;

/** In place of `fetch`: answers at once what the floor would answer. */
export async function stubFetch(url, { body }) {
  count += 1;
  if (count % answersPerTurn === 0) await new Promise(setImmediate);
  const [before, after] = answers.get(/"method":"([^"]+)"/.exec(body)[1]);
  const [id] = /"id":(?:\d+|"[^"]*")/.exec(body);
  return new Response(before + id + after, { headers: { 'Content-Type': 'application/json' } });
}
