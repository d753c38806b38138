// Which processes it takes to measure a row, by its kind.
import { ask, startChild } from './child.mjs';

/**
 * Starts what one contender needs: `measured` is the process whose processor time counts, `driver` the one that makes it
 * work, `other` what runs on the other core meanwhile.
 */
export const kinds = {
  async http(contender, { cores, profile }) {
    const measured = startChild(`contenders/http-${contender}.mjs`, { core: cores?.measured, profile });
    const { url } = await ask(measured);
    const driver = startChild('load-http.mjs', { core: cores?.load, args: [url] });
    return { measured, driver, other: driver };
  },

  async stdio(contender, { cores, profile }) {
    const file = `contenders/stdio-${contender}.mjs`;
    const measured = startChild(file, { core: cores?.measured, streams: ['pipe', 'pipe', 'inherit'], profile });
    const { stdin, stdout } = measured;
    const streams = ['ignore', 'inherit', 'inherit', stdin, stdout];
    const driver = startChild('load-stdio.mjs', { core: cores?.load, streams });
    // The driver has ends of its own now.
    stdin.destroy();
    stdout.destroy();
    return { measured, driver, other: driver };
  },

  async client(contender, { cores, profile }) {
    const other = startChild('contenders/http-floor.mjs', { core: cores?.load });
    const { url } = await ask(other);
    const driver = startChild('load-client.mjs', { core: cores?.measured, args: [contender, url], profile });
    return { measured: driver, driver, other };
  },

  /** The driver answers for the processes that it starts; what it takes itself is little. */
  async import(contender, { cores }) {
    const args = cores === undefined ? [contender] : [contender, String(cores.measured)];
    const driver = startChild('load-import.mjs', { core: cores?.load, args });
    return { measured: driver, driver, other: undefined };
  },
};
