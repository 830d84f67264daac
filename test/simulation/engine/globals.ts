import type { Engine, Process, Task } from './engine.ts';

/** What a program gets for a timer; as much of Node's as programs use. */
class VirtualTimer {
  readonly #engine: Engine;
  readonly #process: Process;
  readonly #callback: () => void;
  readonly #delayUs: number;
  readonly #isRepeated: boolean;
  #task: Task | undefined;
  #dueUs: number;

  constructor(engine: Engine, callback: () => void, delayMs: number, isRepeated: boolean) {
    const process = engine.current;
    if (process === undefined) throw new Error('a timer was set outside of any process');
    this.#engine = engine;
    this.#process = process;
    this.#callback = callback;
    // Node takes everything below a millisecond, and everything beyond 2^31, for one millisecond.
    this.#delayUs = (delayMs >= 1 && delayMs < 2 ** 31 ? Math.trunc(delayMs) : 1) * 1_000;
    this.#isRepeated = isRepeated;
    this.#dueUs = this.#readUs() + this.#delayUs;
    this.#arm();
  }

  /** Timers go by the monotonic clock of the machine. */
  #readUs(): number {
    return this.#process.machine.monotonicUs(this.#engine.nowUs);
  }

  #arm(): void {
    const leftUs = (this.#dueUs - this.#readUs()) / this.#process.machine.rate;
    this.#task = this.#engine.after(Math.max(0, Math.ceil(leftUs)), this.#process, () => this.#fire());
  }

  #fire(): void {
    // The machine has slept, or its clock was slowed down meanwhile.
    if (this.#readUs() < this.#dueUs - 2) {
      this.#arm();
      return;
    }
    this.#task = undefined;
    if (this.#isRepeated) {
      this.#dueUs = this.#readUs() + this.#delayUs;
      this.#arm();
    }
    this.#callback();
  }

  clear(): void {
    if (this.#task !== undefined) this.#task.run = undefined;
    this.#task = undefined;
  }

  refresh(): this {
    this.clear();
    this.#dueUs = this.#readUs() + this.#delayUs;
    this.#arm();
    return this;
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

/** What `setImmediate` gives. */
class VirtualImmediate {
  readonly #task: Task;

  constructor(engine: Engine, callback: () => void) {
    if (engine.current === undefined) throw new Error('an immediate was set outside of any process');
    this.#task = engine.after(0, engine.current, callback);
  }

  clear(): void {
    this.#task.run = undefined;
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }
}

type Callback = (...given: unknown[]) => void;

const bind = (callback: Callback, given: readonly unknown[]): (() => void) =>
  given.length === 0 ? () => callback() : () => callback(...given);

function clear(timer: unknown): void {
  if (timer instanceof VirtualTimer || timer instanceof VirtualImmediate) timer.clear();
}

/**
 * Puts virtual time in the place of Node's clocks, timers and chance, each process with those of its own machine. Gives what puts
 * the old ones back. Nothing may await anything of Node's meanwhile.
 */
export function useVirtualTime(engine: Engine): () => void {
  const here = (): Process => {
    if (engine.current === undefined) throw new Error('a clock was read outside of any process');
    return engine.current;
  };
  const monotonicUs = (): number => here().machine.monotonicUs(engine.nowUs);
  const hrtime = Object.assign(
    (since: readonly [number, number] = [0, 0]): [number, number] => {
      const nanoseconds = Math.floor(monotonicUs() * 1_000) - since[0] * 1e9 - since[1];
      return [Math.floor(nanoseconds / 1e9), nanoseconds % 1e9];
    },
    { bigint: (): bigint => BigInt(Math.floor(monotonicUs() * 1_000)) },
  );
  const restores = [
    replace(globalThis, 'setTimeout', (callback: Callback, delayMs?: number, ...given: unknown[]) => {
      return new VirtualTimer(engine, bind(callback, given), delayMs ?? 1, false);
    }),
    replace(globalThis, 'setInterval', (callback: Callback, delayMs?: number, ...given: unknown[]) => {
      return new VirtualTimer(engine, bind(callback, given), delayMs ?? 1, true);
    }),
    replace(globalThis, 'setImmediate', (callback: Callback, ...given: unknown[]) => {
      return new VirtualImmediate(engine, bind(callback, given));
    }),
    replace(globalThis, 'clearTimeout', clear),
    replace(globalThis, 'clearInterval', clear),
    replace(globalThis, 'clearImmediate', clear),
    replace(performance, 'now', () => {
      const process = here();
      return (process.machine.monotonicUs(engine.nowUs) - process.startedUs) / 1_000;
    }),
    replace(Date, 'now', () => Math.floor(here().machine.wallUs(engine.nowUs) / 1_000)),
    replace(Math, 'random', () => here().random.unit()),
    replace(process, 'hrtime', hrtime),
    replace(AbortSignal, 'timeout', (delayMs: number) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException('the time is over', 'TimeoutError')), delayMs);
      return controller.signal;
    }),
  ];
  return () => {
    for (const restore of restores.reverse()) restore();
  };
}

/** Defines a property of an object; the returned function puts back what was there. */
function replace(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? false,
  });
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, before);
  };
}
