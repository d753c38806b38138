import { connect } from 'stateless-mcp';
import { nodeFetch } from 'stateless-mcp/node';

/**
 * A client that keeps what it is answered, byte for byte.
 *
 * @typedef {{ instance: string | null, status: number, type: string | null, body: string }} Answer
 * @param {string} url
 * @returns {Promise<{ client: import('stateless-mcp').McpClient, answers: Answer[] }>}
 */
export async function connectRecording(url) {
  const answers = [];
  const fetch = nodeFetch();
  const client = await connect({
    url,
    fetch: async (target, request) => {
      const { status, headers, body } = await fetch(target, request);
      const answer = { instance: headers.get('x-instance'), status, type: headers.get('content-type'), body: '' };
      answers.push(answer);
      return { status, headers, body: body === null ? null : recorded(body, answer) };
    },
  });
  return { client, answers };
}

async function* recorded(body, answer) {
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    answer.body += decoder.decode(chunk, { stream: true });
    yield chunk;
  }
}
