// A line echo: the least that a server on stdio can do and still read each message and give answers of this size. It knows
// no tools and no schemas. All answers to what arrives at once are written at once.
import { answering } from '../answering.mjs';
import { textOf } from './answers.mjs';

let received = '';

process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (received + text).split('\n');
  received = lines.pop();
  process.stdout.write(lines.map(answer).join(''));
});
answering();

function answer(line) {
  const { id, params } = JSON.parse(line);
  const { a, b, tags } = params.arguments;
  return `${textOf(id, [{ type: 'text', text: [b, a, ...tags].join(' ') }])}\n`;
}
