/** Tells the benchmark where this process serves, and how much processor time it has taken whenever it is asked. */
export function serving(url) {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send({ cpuMicroseconds: user + system });
  });
  process.on('disconnect', () => process.exit());
  process.send({ url });
}
