/** A server by hand, which does what it is told by its first argument and by the tools that are called. */
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const options = JSON.parse(process.argv[2] ?? '{}');
const received = [];

if (options.ignoreTerm) process.on('SIGTERM', () => process.stderr.write('ignored SIGTERM\n'));
if (options.ignoreEof) setInterval(() => undefined, 1000);

const pids = { server: process.pid, wrapper: process.ppid };
if (options.grandchild) {
  // It holds the streams of the server too.
  const ignore = options.ignoreTerm ? `trap '' TERM;` : '';
  const child = spawn('/bin/sh', ['-c', `${ignore} while :; do sleep 0.2; done`], { stdio: 'inherit' });
  child.unref();
  pids.grandchild = child.pid;
}
if (options.escapee) {
  // Out of the group, with the streams of the server.
  const child = spawn('/bin/sh', ['-c', 'sleep 30'], { stdio: 'inherit', detached: true });
  child.unref();
  pids.grandchild = child.pid;
}
if (options.pidFile !== undefined) {
  // Whole or not at all.
  writeFileSync(`${options.pidFile}.part`, JSON.stringify(pids));
  renameSync(`${options.pidFile}.part`, options.pidFile);
}

for (const line of options.stderr ?? []) process.stderr.write(`${line}\n`);
if (options.print !== undefined) process.stdout.write(options.print);
if (options.closeOutput) process.stdout.end();
if (options.exitCode !== undefined) process.exit(options.exitCode);

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({
  resultType: 'complete',
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

const tools = {
  echo: (args) => text(args),
  pids: () => text(pids),
  env: () => text({ ...process.env }),
  cwd: () => text(process.cwd()),
  args: () => text(process.argv.slice(3)),
  received: () => text(received),
  length: (_args, line) => text(String(line.length)),
  large: ({ characters }) => text('x'.repeat(characters)),
  silent: () => undefined,
  noise: ({ lines }) => {
    process.stdout.write(lines);
    return text('noisy');
  },
  half: async (_args, _line, id) => {
    const whole = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result: text('Grüße') })}\n`);
    for (const byte of whole) {
      process.stdout.write(Buffer.of(byte));
      await new Promise(setImmediate);
    }
  },
  last: (_args, _line, id) => {
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: text('the last') }), () => process.exit(0));
  },
  // Somebody else, out of the group, still writes when this process is gone.
  legacy: (_args, _line, id) => {
    const line = JSON.stringify({ jsonrpc: '2.0', id, result: text('from beyond') });
    const heir = spawn('/bin/sh', ['-c', 'sleep 0.1; echo "$1"', 'heir', line], { stdio: 'inherit', detached: true });
    heir.once('spawn', () => process.exit(0));
  },
  exit: ({ code, stderr = '' }) => {
    process.stderr.write(stderr, () => process.exit(code));
  },
  kill: ({ signal }) => {
    process.kill(process.pid, signal);
  },
  // Reads nothing any more.
  stall: () => {
    input.pause();
    process.stdin.pause();
    return text('stalled');
  },
};

const input = createInterface({ input: process.stdin, crlfDelay: Infinity });
input.on('line', (line) => void answer(line));

async function answer(line) {
  const { id, method, params } = JSON.parse(line);
  received.push({ id, method, params });
  if (options.silent || id === undefined) return;
  if (method !== 'tools/call') {
    write({ id, result: { resultType: 'complete', tools: [] } });
    return;
  }
  const result = await tools[params.name](params.arguments ?? {}, line, id);
  if (result !== undefined) write({ id, result });
}
