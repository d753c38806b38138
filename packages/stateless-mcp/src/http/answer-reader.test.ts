import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBeginning, readEvents, readWhole, type StreamEvent, TooManyBytes } from './answer-reader.ts';

const encoder = new TextEncoder();
const LIMIT = 1000;

interface WatchedBody extends AsyncIterable<Uint8Array> {
  readonly isLeft: boolean;
}

/** A body in these pieces, which knows when its reader has gone. */
function bodyOf(...pieces: readonly (string | Uint8Array)[]): WatchedBody {
  let isLeft = false;
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
    } finally {
      isLeft = true;
    }
  }
  return {
    [Symbol.asyncIterator]: read,
    get isLeft() {
      return isLeft;
    },
  };
}

/** One that never ends by itself, for runtimes whose streams cannot be iterated over too. */
function endless(piece: string): { readonly stream: ReadableStream<Uint8Array>; readonly isCancelled: () => boolean } {
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(piece)),
    cancel: () => {
      isCancelled = true;
    },
  });
  return { stream, isCancelled: () => isCancelled };
}

async function eventsOf(body: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>, limit = LIMIT) {
  const events: StreamEvent[] = [];
  for await (const event of readEvents(body, limit)) events.push(event);
  return events;
}

const messagesOf = async (...pieces: readonly (string | Uint8Array)[]): Promise<unknown[]> => {
  const events = await eventsOf(bodyOf(...pieces));
  return events.flatMap((event) => (event !== undefined && 'message' in event ? [event.message] : []));
};

/** Cuts bytes at these places, wherever in a character they are. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe('readEvents', () => {
  it('T-100: reads the same whatever the line ends, the chunks, and what is between the events', async () => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    const noise = fc.array(
      fc.constantFrom(
        ': comment',
        ':',
        'id: 7',
        'retry: 10',
        'retry: soon',
        'event: message',
        'other: x',
        'data2: x',
        'x',
      ),
      { maxLength: 3 },
    );
    const event = fc.record({
      // Pretty-printed, so that data goes over several lines.
      message: fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 5 }), fc.string({ unit: 'grapheme' }), {
        minKeys: 1,
        maxKeys: 3,
      }),
      noise,
      space: fc.constantFrom('', ' '),
      pretty: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 5 }),
        lineEnd,
        fc.boolean(),
        fc.boolean(),
        fc.array(fc.nat(2000), { maxLength: 30 }),
        async (events, end, hasBom, isLastLineMissing, places) => {
          const blocks = events.map(({ message, noise: lines, space, pretty }) => {
            const data = JSON.stringify(message, undefined, pretty ? 2 : undefined).split('\n');
            return [...lines, ...data.map((line) => `data:${space}${line}`), ''].join(end);
          });
          const text = `${hasBom ? '\uFEFF' : ''}${blocks.map((block) => `${block}${isLastLineMissing ? '' : end}`).join(isLastLineMissing ? end : '')}`;
          const read = await messagesOf(...cut(encoder.encode(text), places));
          expect(read).toEqual(events.map(({ message }) => JSON.parse(JSON.stringify(message)) as unknown));
        },
      ),
    );
  });

  it('T-100: hands an event on when its empty line is here, with every kind of line end', async () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const events = readEvents(bodyOf(`data: {"a":1}${end}${end}`, 'data: {"a"', `:2}${end}${end}`), LIMIT);
      await expect(events.next()).resolves.toEqual({ done: false, value: { message: { a: 1 } } });
    }
    const stream = endless('data: {"a":1}\r\r').stream;
    await expect(readEvents(stream, LIMIT).next()).resolves.toMatchObject({ value: { message: { a: 1 } } });
  });

  it('a line feed after a carriage return in the chunk before is no line of its own', async () => {
    await expect(messagesOf('data: {"a":\r', '\ndata: 1}\r', '\n\r', '\n')).resolves.toEqual([{ a: 1 }]);
  });

  it('HTTP-12: comments are a sign of life and nothing else', async () => {
    await expect(eventsOf(bodyOf(': a\n\n', ': b\n: c\n', 'data: {}\n\n: d\n'))).resolves.toEqual([
      undefined,
      undefined,
      { message: {} },
    ]);
  });

  it('empty events are a sign of life', async () => {
    await expect(eventsOf(bodyOf('id: 0\ndata:\n\n', 'data: \n\n', 'event: x\n\n'))).resolves.toEqual([
      undefined,
      undefined,
    ]);
  });

  it('the type of an event and its id do not matter', async () => {
    await expect(messagesOf('event: other\nid: 1\ndata: {"a":1}\n\n')).resolves.toEqual([{ a: 1 }]);
  });

  it('what cannot be read is said, and reading goes on', async () => {
    const deep = `${'['.repeat(129)}${']'.repeat(129)}`;
    await expect(eventsOf(bodyOf(`data: {broken\n\ndata: ${deep}\n\ndata: {"a":1}\n\n`))).resolves.toEqual([
      { unreadable: 'it is not valid JSON' },
      { unreadable: 'it nests deeper than 128 levels' },
      { message: { a: 1 } },
    ]);
  });

  it('a last event without its empty line is read, half an event is not', async () => {
    await expect(messagesOf('data: {"a":1}')).resolves.toEqual([{ a: 1 }]);
    await expect(messagesOf('data: {"a":1}\n')).resolves.toEqual([{ a: 1 }]);
    await expect(messagesOf('data: {"a":1}\r')).resolves.toEqual([{ a: 1 }]);
    await expect(messagesOf('data: {"a":')).resolves.toEqual([]);
    await expect(messagesOf('')).resolves.toEqual([]);
    await expect(messagesOf()).resolves.toEqual([]);
  });

  it('the limit is that of one event, however it is cut', async () => {
    const filler = 'x'.repeat(LIMIT - 2);
    const most = `data: "${filler}"\n\n`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(most.length), { maxLength: 10 }), async (places) => {
        await expect(messagesOf(...cut(encoder.encode(most), places))).resolves.toEqual([filler]);
        const body = bodyOf(...cut(encoder.encode(`data: "${filler}x"\n\n`), places));
        await expect(eventsOf(body)).rejects.toBeInstanceOf(TooManyBytes);
        expect(body.isLeft).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it.each(['data: 12345\n', ': 12345', 'x', 'data: 12345'])(
    'the limit holds for %j again and again, which never becomes an event',
    async (text) => {
      const body = bodyOf(...Array.from({ length: 2000 }, () => text));
      await expect(eventsOf(body)).rejects.toThrow(TooManyBytes);
      expect(body.isLeft).toBe(true);
    },
  );

  it.each(['x\n', 'x\r', 'data2:\n', 'retry: x\n', '\r', ':\n', 'data:\n'])(
    'reads a megabyte of %j in no time',
    async (text) => {
      const bytes = encoder.encode(text.repeat(1_000_000 / text.length));
      const pieces = cut(
        bytes,
        Array.from({ length: 16 }, (_, index) => index * 65_536),
      );
      const started = process.cpuUsage();
      await eventsOf(bodyOf(...pieces), 1_000_000);
      const { user, system } = process.cpuUsage(started);
      // It takes a tenth of a second; with an error for each line that is not known, ten.
      expect((user + system) / 1000).toBeLessThan(1500);
    },
    30_000,
  );

  it('leaves its body when it is left, and when the body fails', async () => {
    const left = bodyOf('data: {}\n\n', 'data: {}\n\n');
    const events = readEvents(left, LIMIT);
    await events.next();
    await events.return();
    expect(left.isLeft).toBe(true);
    const { stream, isCancelled } = endless('data: {}\n\n');
    const others = readEvents(stream, LIMIT);
    await others.next();
    await others.return();
    expect(isCancelled()).toBe(true);
    const failing = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('cut')) });
    await expect(eventsOf(failing)).rejects.toThrow('cut');
  });
});

describe('readWhole', () => {
  it('joins the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat(200)), async (bytes, places) => {
        await expect(readWhole(bodyOf(...cut(bytes, places)), 200)).resolves.toEqual(bytes);
      }),
    );
    await expect(readWhole(null, 1)).resolves.toEqual(new Uint8Array());
    await expect(readWhole(new Response('abc').body, 3)).resolves.toEqual(encoder.encode('abc'));
  });

  it('stops at the first byte too many', async () => {
    const body = bodyOf('ab', 'c', 'never asked for');
    await expect(readWhole(body, 2)).rejects.toBeInstanceOf(TooManyBytes);
    expect(body.isLeft).toBe(true);
    const { stream, isCancelled } = endless('abc');
    await expect(readWhole(stream, 2)).rejects.toBeInstanceOf(TooManyBytes);
    expect(isCancelled()).toBe(true);
  });
});

describe('readBeginning', () => {
  it('reads what there is, and no more than it may', async () => {
    await expect(readBeginning(null, 5, 1000)).resolves.toBe('');
    await expect(readBeginning(bodyOf('ab', 'c'), 5, 1000)).resolves.toBe('abc');
    const body = bodyOf('ab', 'cdefg', 'h');
    await expect(readBeginning(body, 5, 1000)).resolves.toBe('abcde');
    expect(body.isLeft).toBe(true);
    await expect(readBeginning(bodyOf(Uint8Array.of(0xc3), Uint8Array.of(0xa9)), 5, 1000)).resolves.toBe('é');
  });

  it('does not wait for the end of what does not end', async () => {
    const { stream, isCancelled } = endless('abc');
    await expect(readBeginning(stream, 5, 10)).resolves.toBe('abc');
    expect(isCancelled()).toBe(true);
  });

  it('is content with what came before a failure', async () => {
    let pulls = 0;
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (pulls++ === 0) controller.enqueue(encoder.encode('abc'));
        else controller.error(new Error('cut'));
      },
    });
    await expect(readBeginning(failing, 5, 1000)).resolves.toBe('abc');
  });
});
