import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const place = 'node_modules/.cache/parallax-programs-used.json';

/** Test files, as they ran last, with whether each started an optional program or looked for one. */
export type ProgramsRecord = Readonly<Record<string, boolean>>;

/** Empty when none was ever run; what is not in it has to be taken for one that uses programs. */
export function readPrograms(root: string): ProgramsRecord {
  try {
    return JSON.parse(readFileSync(path.join(root, place), 'utf8')) as ProgramsRecord;
  } catch {
    return {};
  }
}

/**
 * Adds what was seen now to the record.
 * @param ran files that were run
 * @param used those of them that use programs
 */
export function notePrograms(root: string, ran: readonly string[], used: readonly string[]): ProgramsRecord {
  const record = { ...readPrograms(root), ...Object.fromEntries(ran.map((file) => [file, used.includes(file)])) };
  const file = path.join(root, place);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(record));
  return record;
}
