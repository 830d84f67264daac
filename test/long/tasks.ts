/** A stretch of one part of the long run, small enough to be done within a minute or so. */
export type Task =
  | {
      readonly part: 'properties';
      readonly property: number;
      readonly name: string;
      readonly from: number;
      readonly to: number;
    }
  | { readonly part: 'worlds' | 'days'; readonly from: number; readonly to: number };

export type Part = Task['part'];
export const parts: readonly Part[] = ['properties', 'worlds', 'days'];

/** What came out of a task: sums of everything that is counted, and what was broken. */
export type Outcome = {
  readonly task: Task;
  readonly milliseconds: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Detection times of the days, milliseconds beyond the begin, and how far each is beyond what is promised. */
  readonly beyondMs: readonly number[];
  readonly broken: readonly string[];
};

const chunk = { properties: 2_500, worlds: 100, days: 100 } as const;

/** Everything from one number to another of some parts, in tasks; the parts take turns, so that what is left can be estimated early. */
export function tasksOf(
  wanted: readonly { readonly part: Part; readonly from: number; readonly to: number }[],
  properties: readonly { readonly name: string }[],
): Task[] {
  const lists = wanted.map(({ part, from, to }) => {
    const stretches = stretchesOf(from, to, chunk[part]);
    return part === 'properties'
      ? properties.flatMap(({ name }, property) =>
          stretches.map((stretch): Task => ({ part, property, name, ...stretch })),
        )
      : stretches.map((stretch): Task => ({ part, ...stretch }));
  });
  const longest = Math.max(0, ...lists.map((list) => list.length));
  // Each list is spread evenly over the whole.
  return lists
    .flatMap((list) => list.map((task, index) => ({ task, at: (index / Math.max(1, list.length)) * longest })))
    .sort((a, b) => a.at - b.at)
    .map(({ task }) => task);
}

function stretchesOf(from: number, to: number, length: number): { readonly from: number; readonly to: number }[] {
  const stretches: { from: number; to: number }[] = [];
  for (let at = from; at <= to; at += length) stretches.push({ from: at, to: Math.min(to, at + length - 1) });
  return stretches;
}

/** What a task is known by in a file of what is done. */
export const keyOf = (task: Task): string =>
  [task.part, task.part === 'properties' ? task.name : '', task.from, task.to].join('|');
