import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const place = 'node_modules/.cache/parallax-programs-used.json';

/** The unit test files that started or looked for a program when all of them ran last; undefined when they never did. */
export function readProgramsUsed(root: string): readonly string[] | undefined {
  try {
    return JSON.parse(readFileSync(path.join(root, place), 'utf8')) as readonly string[];
  } catch {
    return undefined;
  }
}

export function writeProgramsUsed(root: string, files: readonly string[]): void {
  const file = path.join(root, place);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(files.toSorted()));
}
