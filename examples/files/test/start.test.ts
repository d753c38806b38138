import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect } from 'stateless-mcp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runShell, startProgram } from './program.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Where a skipped test is a failure, the commands are tried all the same. */
const lacksCurl = spawnSync('curl', ['--version']).status !== 0 && process.env.MCP_TEST_NO_SKIP !== '1';

const WORKSPACE = join(import.meta.dirname, '../../..');

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The last line of the last command: what is printed before it is all there. */
const GREETING = /"method":"resources\/(?:read|list)".*'\n/;

describe('npm start', () => {
  it.skipIf(lacksCurl).each([
    ['the documentation of this repository', undefined],
    ['a file with an awkward name', { "it's 100% (new) – «ü»? #1.md": 'about MCP' }],
    ['an empty folder', {}],
  ])('prints curl commands that work as they are (skipped without curl): %s', async (_, files) => {
    const dir = files === undefined ? [] : ['--dir', await temporaryFolder(files)];
    const greeting = await startProgram('--port', '0', ...dir).printed(GREETING);
    const commands = greeting
      .trim()
      .split('\n\n')
      .filter((block) => block.startsWith('curl '));
    expect(commands).toHaveLength(3);
    const answers: unknown[] = [];
    for (const command of commands) {
      const { code, stdout, stderr } = await runShell(command);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      answers.push(JSON.parse(stdout));
    }
    const [discovered, found, last] = answers;
    expect(discovered).toMatchObject({
      id: 1,
      result: {
        supportedVersions: ['2026-07-28'],
        capabilities: { resources: { listChanged: true, subscribe: true }, tools: {}, prompts: {}, completions: {} },
      },
    });
    const isEmpty = files !== undefined && Object.keys(files).length === 0;
    expect(found).toMatchObject({
      id: 2,
      result: { structuredContent: { matches: isEmpty ? [] : expect.anything() } },
    });
    expect(last).toMatchObject({
      id: 3,
      result: isEmpty
        ? { resources: [] }
        : {
            contents: [{ uri: expect.stringMatching(/^files:\/\/\/./) as string, text: expect.any(String) as string }],
          },
    });
  });

  it('explains itself', async () => {
    const { code, stdout, stderr } = await startProgram('--help').outcome;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('--dir <folder>');
  });

  it.each([
    ['--folder', 'x', "Unknown option '--folder'\n"],
    ['--dir', '/no/such/folder', 'The folder /no/such/folder does not exist\n'],
    ['--dir', import.meta.filename, `${import.meta.filename} is not a folder\n`],
  ])('refuses %s %s in one line, with exit code 2', async (option, value, stderr) => {
    expect(await startProgram(option, value).outcome).toEqual({ code: 2, stdout: '', stderr });
  });

  it('says when the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    expect(await startProgram('--port', String(port)).outcome).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} cannot be opened: it is in use; choose another one with --port\n`,
    });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('drains and ends on %s: listeners get their result', async (signal) => {
    const program = startProgram('--port', '0', '--dir', await temporaryFolder({ 'one.md': '1' }));
    const greeting = await program.printed(GREETING);
    const [, url = ''] = /at (http:\S+)/.exec(greeting) ?? [];
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { _meta, notifications: { resourcesListChanged: true } };
    const { body } = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'subscriptions/listen',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'listening', method: 'subscriptions/listen', params }),
    });
    let received = '';
    for await (const text of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      received += text;
      // Twice, as from a terminal through npm.
      if (received.includes('acknowledged')) for (let times = 0; times < 2; times += 1) program.process.kill(signal);
    }
    expect(received).toContain('"id":"listening","result":{"resultType":"complete"');
    expect(await program.outcome).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('npm start -- --stdio', () => {
  it.each([
    ['npm start --silent', ['start', '--silent'], 0],
    // npm tells what it runs on standard output; a client has to live with that.
    ['npm start', ['start'], expect.toSatisfy((lines: number) => lines > 0)],
  ])('serves a client that starts %s', async (_, npm, ignoredLines) => {
    const dir = await temporaryFolder({ 'one.md': 'the first line' });
    const client = await connect(
      { command: 'npm', args: [...npm, '--', '--stdio', '--dir', dir], cwd: WORKSPACE },
      { logger: quiet },
    );
    onTestFinished(async () => client.close());
    const { structuredContent } = await client.callTool('search_files', { query: 'first' });
    expect(structuredContent).toMatchObject({ matches: [{ path: 'one.md', line: 1 }] });
    expect(client.explain()).toMatchObject({ ignoredLines, process: { starts: 1 } });
  });
});
