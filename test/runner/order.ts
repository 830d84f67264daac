import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { FileResult } from './file-result.ts';
import type { Planned, Stage } from './stages.ts';

/** Test files that one process runs, one after another. */
export type Run = {
  readonly files: readonly string[];
  readonly stage: Stage;
  /** They are subtests of one process; else there is one file, which is the program. */
  readonly isShared: boolean;
  /** What it is expected to take; 0 for what is quick. */
  readonly seconds: number;
};

/** Seconds that slow files took on two cores; what is not in it is quick. */
const place = 'test/runner/slow-files.json';
/** Files that take less are not listed: their order matters to nobody. */
const slowSeconds = 4;
/** A process is given no more than this, so that at the end of a run no core waits long for another one. */
const maxSharedSeconds = 100;
const maxSharedFiles = 60;

/**
 * Files divided over processes, the slowest first; or all in an order that a seed draws.
 * @param isAlone each file has a process of its own
 */
export function ordered(root: string, planned: readonly Planned[], seed: number | undefined, isAlone: boolean): Run[] {
  const slow = JSON.parse(readFileSync(path.join(root, place), 'utf8')) as Readonly<Record<string, number>>;
  const draw = seed === undefined ? undefined : drawer(seed);
  const runs = [...Map.groupBy(planned, ({ stage }) => stage)].flatMap(([stage, own]) => {
    const files = draw === undefined ? own.map(({ file }) => file) : shuffled(own, draw).map(({ file }) => file);
    return isAlone || stage.isShared !== true
      ? files.map((file) => ({ files: [file], stage, isShared: false, seconds: slow[file] ?? 0 }))
      : shared(files, stage, slow);
  });
  return draw === undefined ? runs.sort((a, b) => b.seconds - a.seconds) : shuffled(runs, draw);
}

/** Neighbours share a process: they import much the same. A file of an area never shares one with a file of another. */
function shared(files: readonly string[], stage: Stage, slow: Readonly<Record<string, number>>): Run[] {
  return [...Map.groupBy(files, areaOf).values()].flatMap((own) => {
    const runs: { files: string[]; stage: Stage; isShared: true; seconds: number }[] = [];
    for (const file of own) {
      const seconds = slow[file] ?? 0;
      const last = runs.at(-1);
      if (last === undefined || last.seconds + seconds > maxSharedSeconds || last.files.length >= maxSharedFiles) {
        runs.push({ files: [file], stage, isShared: true, seconds });
      } else {
        last.files.push(file);
        last.seconds += seconds;
      }
    }
    return runs;
  });
}

/** `control-plane/src/monitoring` or `packages/checks/src`. */
function areaOf(file: string): string {
  return path.posix.dirname(file).split('/').slice(0, 3).join('/');
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

/** By Fisher and Yates. */
function shuffled<T>(list: readonly T[], draw: () => number): T[] {
  const drawn = [...list];
  for (let left = drawn.length; left > 1; left -= 1) {
    const at = draw() % left;
    [drawn[left - 1], drawn[at]] = [drawn[at] as T, drawn[left - 1] as T];
  }
  return drawn;
}

/** The generator of Park and Miller. */
function drawer(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => (state = (state * 48_271) % 2_147_483_647);
}
