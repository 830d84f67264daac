/** Lets at most `most` pieces of work run at once; the others wait in line. */
export function createSlots(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // The slot is handed on, so nobody who comes now overtakes.
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
