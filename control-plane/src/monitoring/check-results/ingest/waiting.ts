/** Wakes one waiter; a ring while nobody waits is kept for the next wait. */
export type Bell = { readonly ring: () => void; readonly wait: (ms: number) => Promise<void> };

export function createBell(): Bell {
  let isRung = false;
  let wake: (() => void) | undefined;
  return {
    ring: () => {
      isRung = true;
      wake?.();
    },
    wait: (ms) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          wake = undefined;
          isRung = false;
          resolve();
        };
        const timer = setTimeout(done, ms);
        wake = done;
        if (isRung) done();
      }),
  };
}

/** The promise's outcome, or an error with this text when it takes longer. What it does goes on; it is only not waited for. */
export async function withDeadline<Result>(promise: Promise<Result>, ms: number, text: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(text)), ms);
      }),
    ]);
  } finally {
    clearTimeout(timer);
  }
}
