// Calls with a client: over a `fetch` that answers at once, or over a socket. The client is what is measured here, so that
// everything but its work must cost next to nothing.
import { drive } from './drive.mjs';
import { checkResult, paramsFor } from './requests.mjs';
import { stubFetch } from './stub-fetch.mjs';

const callerCount = 16;
const [contender, url] = process.argv.slice(2);
const { openClient } = await import(`./contenders/client-${contender}.mjs`);

drive(async ({ operation, isStub }) => {
  const client = await openClient(url, isStub ? stubFetch : undefined);
  const { name, arguments: toolArguments } = paramsFor(operation, 1);
  const first = await client.callTool(name, toolArguments);
  checkResult(operation, 1, first);
  const [{ text }] = first.content;
  const call = async () => (await client.callTool(name, toolArguments)).content[0].text === text;
  return { calls: Array.from({ length: callerCount }, () => call), close: client.close };
});
