/** What code under test is given in place of the system's time and timers. */
export type FakeClock = {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The same moment with an origin of its own, as `performance.now()` has. */
  readonly monotonic: () => number;
  readonly setTimeout: (callback: () => void, delayMs: number) => FakeTimer;
  readonly clearTimeout: (timer: FakeTimer | undefined) => void;
  /** Resolves when the clock has advanced that far; rejects with the signal's reason. */
  readonly sleep: (delayMs: number, signal?: AbortSignal) => Promise<void>;
  /** Moves time on, running timers that fall due in order of their time (equal times: in order of creation), each at its own moment. */
  readonly advance: (byMs: number) => Promise<void>;
  /** Moves time on to the next timer and runs it; false when there is none. */
  readonly advanceToNext: () => Promise<boolean>;
  /** Moves the wall clock alone, forth or back, as an operator or NTP does: timers do not notice. */
  readonly jumpWall: (byMs: number) => void;
  /** Timers that wait. */
  readonly pending: () => number;
};

export type FakeTimer = {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
  unref(): FakeTimer;
};

/** Time that stands still until a test moves it. */
export function fakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let monotonicMs = 1_000;
  let wallOffsetMs = startMs - monotonicMs;
  let created = 0;
  const timers = new Set<FakeTimer>();

  const next = () => {
    let first: FakeTimer | undefined;
    for (const timer of timers) {
      if (
        first === undefined ||
        timer.dueMs < first.dueMs ||
        (timer.dueMs === first.dueMs && timer.order < first.order)
      )
        first = timer;
    }
    return first;
  };
  const fire = async (timer: FakeTimer) => {
    timers.delete(timer);
    monotonicMs = Math.max(monotonicMs, timer.dueMs);
    timer.run();
    await settle();
  };
  const start = (callback: () => void, delayMs: number) => {
    const timer: FakeTimer = {
      dueMs: monotonicMs + Math.max(0, delayMs),
      order: created++,
      run: callback,
      unref: () => timer,
    };
    timers.add(timer);
    return timer;
  };

  return {
    now: () => monotonicMs + wallOffsetMs,
    monotonic: () => monotonicMs,
    setTimeout: start,
    clearTimeout: (timer) => {
      if (timer !== undefined) timers.delete(timer);
    },
    sleep: (delayMs, signal) =>
      new Promise((resolve, reject) => {
        const abort = () => {
          timers.delete(timer);
          reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
        };
        const timer = start(() => {
          signal?.removeEventListener('abort', abort);
          resolve();
        }, delayMs);
        if (signal?.aborted === true) abort();
        else signal?.addEventListener('abort', abort, { once: true });
      }),
    advance: async (byMs) => {
      await settle();
      const untilMs = monotonicMs + byMs;
      for (let timer = next(); timer !== undefined && timer.dueMs <= untilMs; timer = next()) await fire(timer);
      monotonicMs = untilMs;
    },
    advanceToNext: async () => {
      await settle();
      const timer = next();
      if (timer !== undefined) await fire(timer);
      return timer !== undefined;
    },
    jumpWall: (byMs) => {
      wallOffsetMs += byMs;
    },
    pending: () => timers.size,
  };
}

/** Lets everything run that waits for nothing but its turn. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}
