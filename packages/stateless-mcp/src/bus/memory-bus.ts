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
      const failures: unknown[] = [];
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          failures.push(error);
        }
      }
      // Everybody has been told; the publisher learns what went wrong.
      if (failures.length > 0) throw failures[0];
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
