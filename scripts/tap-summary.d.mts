/** Turns TAP into one line for each test file, the whole of what failed, and the totals. */
export function createSummary(write: (line: string) => void): {
  readonly add: (chunk: string) => void;
  readonly end: () => void;
};

/** One line about the programs that tests did not find on this machine. */
export function missingServersLine(programs: readonly string[]): string;
