/** For tests of servers and clients: what they are called with, what goes over the wire, and time. */
export { buildExchange, type BuildExchangeOptions, type TestExchange } from './build-exchange.ts';
export { buildRequest } from './build-request.ts';
export { fakeClock, type FakeClock } from './fake-clock.ts';
export {
  type HttpRecord,
  recordWire,
  type RecordWireOptions,
  type WireRecord,
  type WireRecorder,
} from './record-wire.ts';
export type { WatchedStream } from './watch-stream.ts';
