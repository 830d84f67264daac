import type { Bus } from '../platform/bus/bus.ts';

/** A broker within the process: hints reach whoever listens, at once. */
export function loopBus(): Bus {
  const listeners = new Map<string, Set<(message: unknown) => unknown>>();
  return {
    get connection(): Bus['connection'] {
      throw new Error('this test has no broker');
    },
    hint: (subject, message) => {
      for (const listener of listeners.get(subject) ?? []) void listener(JSON.parse(JSON.stringify(message)));
    },
    ask: async () => undefined,
    listen: (subject, onMessage) => {
      const own = listeners.get(subject) ?? new Set();
      listeners.set(subject, own.add(onMessage));
      return { stop: () => void own.delete(onMessage) };
    },
  };
}
