/** Change events between the instances of a server. */
export type { ChangeBus, ChangeEvent } from './change-bus.ts';
export { memoryBus } from './memory-bus.ts';
