import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { FileResult } from './run-file.ts';
import type { Planned } from './stages.ts';
import type { Waiting } from './pool.ts';

/** Seconds that slow files took on two cores; what is not in it is quick. Only the order depends on it. */
const place = 'test/runner/slow-files.json';
/** Files that take less are not listed: their order matters to nobody. */
const slowSeconds = 6;

/** The slowest first, so that no long file is left alone at the end; or in the order that a seed draws. */
export function ordered(root: string, planned: readonly Planned[], seed: number | undefined): Waiting[] {
  const slow = JSON.parse(readFileSync(path.join(root, place), 'utf8')) as Readonly<Record<string, number>>;
  const waiting = planned.map((each) => ({ ...each, seconds: slow[each.file] ?? 0 }));
  return seed === undefined ? waiting.sort((a, b) => b.seconds - a.seconds) : shuffled(waiting, seed);
}

/** Notes what the slow ones of these took; files that were not run keep what is noted of them. */
export function noteTimes(root: string, results: readonly FileResult[]): void {
  const file = path.join(root, place);
  const noted = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>));
  for (const { file: ran, seconds } of results) {
    if (seconds >= slowSeconds) noted.set(ran, Math.round(seconds));
    else noted.delete(ran);
  }
  const sorted = [...noted].toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/** By Fisher and Yates, over the generator of Park and Miller. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const drawn = [...list];
  let state = (seed % 2_147_483_646) + 1;
  for (let left = drawn.length; left > 1; left -= 1) {
    state = (state * 48_271) % 2_147_483_647;
    const at = state % left;
    [drawn[left - 1], drawn[at]] = [drawn[at] as T, drawn[left - 1] as T];
  }
  return drawn;
}
