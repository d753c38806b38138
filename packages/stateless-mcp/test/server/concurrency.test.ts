import { expect, it } from 'vitest';
import { McpServer, type RequestContext } from '../../src/server/index.ts';
import { describeMatrix } from '../matrix.ts';

const info = { name: 'concurrency', version: '1.0.0' };
const PAIRS = 1000;

/** Lets callers wait until all have come, and go in the reverse order. */
class ReverseGate {
  readonly #waiting: (() => void)[] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  async pass(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === this.#size) this.#openOneByOne();
    });
  }

  #openOneByOne(): void {
    const next = this.#waiting.pop();
    if (next === undefined) return;
    next();
    setImmediate(() => this.#openOneByOne());
  }
}

const who = ({ auth }: RequestContext) => auth?.principal ?? 'nobody';

describeMatrix('concurrent requests', (connect, carrier) => {
  /** Over HTTP they all use the same one: every request has a connection of its own. */
  const sharedId = carrier === 'http' ? 1 : undefined;

  it(`${PAIRS} pairs of callers, finishing in reverse order, get each their own answer`, async () => {
    const gates = Array.from({ length: PAIRS }, () => new ReverseGate(2));
    const finished: string[] = [];
    const server = new McpServer(info);
    const inputSchema = {
      type: 'object',
      properties: { pair: { type: 'number' }, secret: { type: 'string' } },
      required: ['pair', 'secret'],
    };
    server.registerTool('tell', { inputSchema }, async ({ pair, secret }, context) => {
      await gates[Number(pair)]?.pass();
      await context.progress(1, 1, `${who(context)} ${String(secret)}`);
      finished.push(who(context));
      return `${who(context)} ${String(secret)}`;
    });
    const client = await connect(server);
    const ask = async (caller: string, pair: number) => {
      const secret = `secret of ${caller} ${pair}`;
      const id = sharedId ?? caller;
      const options = { id, auth: { principal: caller }, meta: { progressToken: id } };
      const answer = await client.request('tools/call', { name: 'tell', arguments: { pair, secret } }, options);
      expect(answer.message).toMatchObject({ id, result: { content: [{ text: `${caller} ${secret}` }] } });
      expect(answer.notifications).toMatchObject([{ params: { progressToken: id, message: `${caller} ${secret}` } }]);
    };
    for (let start = 0; start < PAIRS; start += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const pair = start + index;
          await Promise.all([ask(`first-${pair}`, pair), ask(`second-${pair}`, pair)]);
        }),
      );
    }
    expect(finished).toHaveLength(2 * PAIRS);
    expect(new Set(finished).size).toBe(2 * PAIRS);
  }, 60_000);

  it('500 callers that all wait for the last one get each their own answer', async () => {
    const size = 500;
    const gate = new ReverseGate(size);
    const server = new McpServer(info);
    server.registerTool('tell', {}, async (_input, context) => {
      await gate.pass();
      return who(context);
    });
    const client = await connect(server);
    const answers = await Promise.all(
      Array.from({ length: size }, async (_, caller) =>
        client.result('tools/call', { name: 'tell' }, { id: sharedId ?? caller, auth: { principal: String(caller) } }),
      ),
    );
    const texts = answers.map(({ content }) => (content as [{ text: string }])[0].text);
    expect(texts).toEqual(Array.from({ length: size }, (_, caller) => String(caller)));
  }, 60_000);

  it('ids keep their type and value, whatever others use at the same time', async () => {
    const server = new McpServer(info);
    const gate = new ReverseGate(8);
    server.registerTool('tell', {}, async () => {
      await gate.pass();
      return 'ok';
    });
    const client = await connect(server);
    const ids = [1, '1', 0, '0', '', -1, Number.MAX_SAFE_INTEGER, '__proto__'];
    const answers = await Promise.all(ids.map(async (id) => client.request('tools/call', { name: 'tell' }, { id })));
    expect(answers.map(({ message }) => message.id)).toEqual(ids);
  });
});
