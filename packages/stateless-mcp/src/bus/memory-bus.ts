import type { ChangeBus, ChangeEvent } from './change-bus.ts';

/**
 * A bus within one process: what a single instance needs, and the default of every server.
 *
 * @example const server = new McpServer(info, { bus: memoryBus() });
 */
export function memoryBus(): ChangeBus {
  const listeners = new Set<(event: ChangeEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
