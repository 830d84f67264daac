import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { programsBySource } from '@parallax/testkit/program';
import { root } from './processes.ts';

/** A copy of the project in which a test may plant a fault; installed packages are shared by links, the project's own are the copy's. */
export type TreeCopy = {
  readonly folder: string;
  /** Replaces one occurrence of a text in a file; throws when it is not there exactly once, so that a mutant cannot go stale. */
  readonly replace: (file: string, from: string | RegExp, to: string) => void;
  /** Replaces it likewise. @returns what puts the file back as it was */
  readonly change: (file: string, from: string | RegExp, to: string) => () => void;
  readonly append: (file: string, text: string) => void;
  /** The programs of the copy as it is now, bundled, by their sources: for `PARALLAX_TEST_PROGRAMS`. */
  readonly programs: () => Promise<Readonly<Record<string, string>>>;
  readonly remove: () => void;
};

/** @param isWanted which files of the project are in it; all when absent */
export function copyTree(isWanted: (file: string) => boolean = () => true): TreeCopy {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-tree-'));
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\0')
    .filter((file) => file !== '' && existsSync(path.join(root, file)) && isWanted(file));
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    cpSync(path.join(root, file), path.join(folder, file), { verbatimSymlinks: true });
  }
  linkModules(folder);
  const change: TreeCopy['change'] = (file, from, to) => {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const pieces = text.split(from);
    if (pieces.length !== 2)
      throw new Error(`${file} has ${pieces.length - 1} places of ${String(from)}, one was expected`);
    writeFileSync(path.join(folder, file), pieces.join(to));
    return () => writeFileSync(path.join(folder, file), text);
  };
  return {
    folder,
    replace: (file, from, to) => void change(file, from, to),
    change,
    append: (file, text) => writeFileSync(path.join(folder, file), text, { flag: 'a' }),
    programs: async () => {
      const script = pathToFileURL(path.join(folder, 'scripts/programs/bundle.mjs')).href;
      const { programs } = (await import(script)) as { programs: () => Promise<Readonly<Record<string, string>>> };
      return programsBySource(await programs());
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function linkModules(folder: string): void {
  const from = path.join(root, 'node_modules');
  const to = path.join(folder, 'node_modules');
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    // What is bundled from a copy goes with it.
    if (name !== '@parallax' && name !== '.cache') symlinkSync(path.join(from, name), path.join(to, name));
  }
  mkdirSync(path.join(to, '@parallax'));
  for (const name of readdirSync(path.join(from, '@parallax'))) {
    symlinkSync(readlinkSync(path.join(from, '@parallax', name)), path.join(to, '@parallax', name));
  }
}
