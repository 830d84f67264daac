/** What a bench found. The keys go into the JSON as they are; `text` is for people. */
export type Figures = Readonly<Record<string, number>>;

export type BenchOptions = {
  /** Only as long as it takes to see that the bench works. */
  readonly brief: boolean;
  /** A folder for profiles of the processor time (`.cpuprofile`), of a bench that can make some. */
  readonly profiles?: string | undefined;
};

export type Bench = {
  readonly name: string;
  readonly summary: string;
  readonly run: (
    say: (line: string) => void,
    options?: BenchOptions,
  ) => Promise<{ readonly figures: Figures; readonly table: readonly (readonly [string, string])[] }>;
};

export function formatTable(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n');
}
