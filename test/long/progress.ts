import type { Outcome, Part, Task } from './tasks.ts';

const everyMs = 15_000;

type Spent = { readonly milliseconds: number; readonly length: number };

/**
 * Says every now and then how much is done and how long the rest will take, by what tasks of its kind took so far.
 * @returns to be told of each outcome
 */
export function createProgress(
  tasks: readonly Task[],
  workers: number,
  print: (line: string) => void,
): (outcome: Outcome) => void {
  const left = new Map<string, number>();
  const kindOf = (task: Task): string => (task.part === 'properties' ? task.name : task.part);
  const lengthOf = ({ from, to }: Task): number => to - from + 1;
  for (const task of tasks) left.set(kindOf(task), (left.get(kindOf(task)) ?? 0) + lengthOf(task));
  const partOf = new Map(tasks.map((task) => [kindOf(task), task.part]));
  const spent = new Map<string, Spent>();
  const broken = new Map<Part, number>();
  let done = 0;
  let toldMs = performance.now();

  return ({ task, milliseconds, broken: found }) => {
    const kind = kindOf(task);
    const known = spent.get(kind) ?? { milliseconds: 0, length: 0 };
    spent.set(kind, { milliseconds: known.milliseconds + milliseconds, length: known.length + lengthOf(task) });
    left.set(kind, (left.get(kind) ?? 0) - lengthOf(task));
    broken.set(task.part, (broken.get(task.part) ?? 0) + found.length);
    done += 1;
    if (performance.now() - toldMs < everyMs && done < tasks.length) return;
    toldMs = performance.now();
    const leftMs = estimate(left, spent, partOf) / workers;
    const failures = [...broken.values()].reduce((sum, count) => sum + count, 0);
    print(`${done} of ${tasks.length} done, ${failures} broken, about ${Math.ceil(leftMs / 60_000)} min left`);
  };
}

/** Properties that were not tried yet are taken for like the others; a part that was not is not counted. */
function estimate(
  left: ReadonlyMap<string, number>,
  spent: ReadonlyMap<string, Spent>,
  partOf: ReadonlyMap<string, Part>,
): number {
  const ofPart = new Map<Part, Spent>();
  for (const [kind, { milliseconds, length }] of spent) {
    const part = partOf.get(kind) ?? 'properties';
    const known = ofPart.get(part) ?? { milliseconds: 0, length: 0 };
    ofPart.set(part, { milliseconds: known.milliseconds + milliseconds, length: known.length + length });
  }
  let milliseconds = 0;
  for (const [kind, length] of left) {
    const known = spent.get(kind) ?? ofPart.get(partOf.get(kind) ?? 'properties');
    if (known !== undefined) milliseconds += (length * known.milliseconds) / known.length;
  }
  return milliseconds;
}
