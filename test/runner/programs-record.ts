import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const place = 'node_modules/.cache/parallax-programs-used.json';

/** Test files of the last whole run of the stage `unit`, with whether each started a program or looked for one. */
export type ProgramsRecord = Readonly<Record<string, boolean>>;

/** Empty when the stage was never run as a whole. */
export function readPrograms(root: string): ProgramsRecord {
  try {
    return JSON.parse(readFileSync(path.join(root, place), 'utf8')) as ProgramsRecord;
  } catch {
    return {};
  }
}

export function writePrograms(root: string, ran: readonly string[], used: readonly string[]): void {
  const file = path.join(root, place);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(Object.fromEntries(ran.map((each) => [each, used.includes(each)]))));
}
