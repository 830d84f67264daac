import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { FileResult } from './file-result.ts';

/** Faults that tests plant and must notice, by stage. A test names each by a comment `caught: NAME` (`test/harness/caught.ts`). */
type Caught = Readonly<Record<string, readonly string[]>>;

const place = 'test/runner/caught.json';

/**
 * Holds what the files of a run have caught against the list of what they must catch.
 * @param wholeStages of which every file was run
 * @returns lines about what is not caught any more, and about what is caught and not listed yet
 */
export function compareCaught(
  root: string,
  results: readonly FileResult[],
  wholeStages: readonly string[],
): { readonly lost: readonly string[]; readonly unlisted: readonly string[] } {
  const listed = readCaught(root);
  const now = caughtBy(results);
  const lost = wholeStages.flatMap((stage) =>
    (listed[stage] ?? []).filter((name) => now[stage]?.includes(name) !== true).map((name) => `${stage}: ${name}`),
  );
  const unlisted = Object.entries(now).flatMap(([stage, names]) =>
    names.filter((name) => listed[stage]?.includes(name) !== true).map((name) => `${stage}: ${name}`),
  );
  return { lost, unlisted };
}

/** Lists what the stages of a run have caught, in the place of what was listed of them. */
export function noteCaught(root: string, results: readonly FileResult[], wholeStages: readonly string[]): void {
  const now = caughtBy(results);
  const noted = { ...readCaught(root), ...Object.fromEntries(wholeStages.map((stage) => [stage, now[stage] ?? []])) };
  const sorted = Object.entries(noted)
    .filter(([, names]) => names.length > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(path.join(root, place), `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

function caughtBy(results: readonly FileResult[]): Record<string, string[]> {
  const names: Record<string, string[]> = {};
  for (const { stage, caught } of results) names[stage] = [...(names[stage] ?? []), ...caught];
  for (const [stage, all] of Object.entries(names)) names[stage] = [...new Set(all)].sort();
  return names;
}

function readCaught(root: string): Caught {
  return JSON.parse(readFileSync(path.join(root, place), 'utf8')) as Caught;
}
