import type { Machine } from './machine.ts';
import type { Random } from './random.ts';

/** Something that will happen. `process`: in whose name; what is due for a dead one never happens, for a stopped one later. */
export type Task = {
  readonly atUs: number;
  readonly order: number;
  readonly process: Process | undefined;
  run: (() => void) | undefined;
};

/** A program that runs on a machine. */
export class Process {
  readonly name: string;
  readonly machine: Machine;
  /** Its own source of chance: what `Math.random` gives it. */
  readonly random: Random;
  /** Reading of the machine's monotonic clock at its start. */
  readonly startedUs: number;
  isAlive = true;
  /** Stopped by a signal: its clock goes on, and nothing of it runs. */
  isFrozen = false;
  deferred: Task[] = [];
  /** What else ends with it. */
  readonly onEnd: (() => void)[] = [];

  constructor(options: {
    readonly name: string;
    readonly machine: Machine;
    readonly random: Random;
    readonly nowUs: number;
  }) {
    this.name = options.name;
    this.machine = options.machine;
    this.random = options.random;
    this.startedUs = options.machine.monotonicUs(options.nowUs);
  }

  get isStopped(): boolean {
    return this.isFrozen || this.machine.isAsleep;
  }
}

/**
 * Virtual time: a queue of what will happen, in one order that the seed determines. After each task everything that promises have made
 * ready is run before the next, so a task and all that follows from it happen at one instant and in the name of one process.
 */
export class Engine {
  nowUs: number;
  steps = 0;
  /** Whose task runs. */
  current: Process | undefined;
  #heap: Task[] = [];
  #order = 0;
  #error: { readonly error: unknown } | undefined;
  #isStopped = false;

  constructor(nowUs: number) {
    this.nowUs = nowUs;
  }

  /** @param afterUs microseconds from now, at least 0 */
  after(afterUs: number, process: Process | undefined, run: () => void): Task {
    this.#order += 1;
    const task: Task = { atUs: this.nowUs + Math.max(0, Math.round(afterUs)), order: this.#order, process, run };
    this.#push(task);
    return task;
  }

  /** What comes only after so long, in the name of the process that asks. Never for a process that is dead by then. */
  pause(afterUs: number): Promise<void> {
    const process = this.current;
    return new Promise((resolve) => {
      this.after(afterUs, process, resolve);
    });
  }

  /** Ends a process at once: nothing of it happens any more. */
  kill(process: Process): void {
    if (!process.isAlive) return;
    process.isAlive = false;
    process.deferred = [];
    for (const end of process.onEnd.splice(0)) end();
  }

  freeze(process: Process): void {
    process.isFrozen = true;
  }

  thaw(process: Process): void {
    process.isFrozen = false;
    this.release(process);
  }

  /** What waited for a process that was stopped happens now, in its order. */
  release(process: Process): void {
    if (process.isStopped || !process.isAlive) return;
    const deferred = process.deferred;
    process.deferred = [];
    for (const { run } of deferred) if (run !== undefined) this.after(0, process, run);
  }

  /** Ends the run with an error, whatever is caught on the way. */
  fail(error: unknown): void {
    this.#error ??= { error };
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Lets everything happen until a time, or until `isOver` after some task. Rejects with what went wrong. */
  run(untilUs: number, isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      // All that promises have made ready runs before the next tick, and the next tick before any other event of Node.
      const next = (): void => process.nextTick(step);
      const step = (): void => {
        this.current = undefined;
        if (this.#error !== undefined) {
          reject(this.#error.error);
          return;
        }
        if (this.#isStopped || isOver()) {
          resolve();
          return;
        }
        const task = this.#heap[0];
        if (task === undefined || task.atUs > untilUs) {
          this.nowUs = Math.max(this.nowUs, untilUs);
          resolve();
          return;
        }
        this.#pop();
        this.nowUs = task.atUs;
        this.#perform(task);
        queueMicrotask(next);
      };
      step();
    });
  }

  #perform(task: Task): void {
    const { process, run } = task;
    if (run === undefined) return;
    if (process !== undefined) {
      if (!process.isAlive) return;
      if (process.isStopped) {
        process.deferred.push(task);
        return;
      }
    }
    this.steps += 1;
    this.current = process;
    try {
      run();
    } catch (error) {
      this.fail(error);
    }
  }

  #push(task: Task): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(task);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || isBefore(parent, task)) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = task;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = heap[childIndex];
      if (child === undefined) break;
      const right = heap[childIndex + 1];
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        childIndex += 1;
      }
      if (isBefore(last, child)) break;
      heap[index] = child;
      index = childIndex;
    }
    heap[index] = last;
  }
}

const isBefore = (a: Task, b: Task): boolean => a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);
