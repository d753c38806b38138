/**
 * Lets the benchmark ask this process: an empty question for the processor time it has taken so far, others for what
 * `answer` makes of them. It ends with the benchmark.
 */
export function answering(answer = async () => undefined) {
  process.on('disconnect', () => process.exit());
  process.on('message', (question) => void reply(question));

  async function reply(question) {
    try {
      process.send((await answer(question)) ?? { cpuMicroseconds: cpuMicroseconds() });
    } catch (error) {
      process.send({ error: error.message });
    }
  }
}

function cpuMicroseconds() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
