// The load of a server over stdio: many requests under way at once on the one pair of pipes, found at descriptors 4 and 5.
import { Socket } from 'node:net';
import { drive } from './drive.mjs';
import { checkAnswer, requestFor } from './requests.mjs';

const callerCount = 32;
const answerTimeoutMs = 10_000;

const toServer = new Socket({ fd: 4, readable: false, writable: true });
const fromServer = new Socket({ fd: 5, readable: true, writable: false });
/** What to do with the answer, by id of the request. */
const waiting = new Map();
let pending = '';
let received = '';

fromServer.setEncoding('utf8').on('data', (text) => {
  const lines = (received + text).split('\n');
  received = lines.pop();
  for (const line of lines) waiting.get(JSON.parse(line).id)(line);
});
fromServer.setTimeout(answerTimeoutMs, () => {
  if (waiting.size > 0) throw new Error(`no answer in ${answerTimeoutMs} ms`);
});

drive(async (operation) => {
  const numbers = Array.from({ length: callerCount }, (_, index) => index + 1);
  const calls = await Promise.all(
    numbers.map(async (number) => {
      const request = `${JSON.stringify(requestFor(operation, number))}\n`;
      const first = await send(request, number);
      checkAnswer(operation, number, JSON.parse(first));
      return async () => (await send(request, number)) === first;
    }),
  );
  return { calls, close() {} };
});

/** Requests of one moment go out together, so that what the server gets depends on its own speed alone. */
function send(request, id) {
  if (pending === '') {
    process.nextTick(() => {
      toServer.write(pending);
      pending = '';
    });
  }
  pending += request;
  return new Promise((resolve) => {
    waiting.set(id, (line) => {
      waiting.delete(id);
      resolve(line);
    });
  });
}
