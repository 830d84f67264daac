import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Account } from './data-folder.mjs';

/** The system's limit for the path of a Unix socket is 107 bytes on Linux and 103 on macOS; a longer one is fatal. */
export const maxSocketPathBytes = 100;

/**
 * A folder with mode 0700 for sockets whose longest name is `longestName`: `<dataDir>/<name>` when its path is short enough, else one
 * below /tmp that is written down in `<dataDir>/<name>.path` and used again. It belongs to the account (undefined: this user).
 */
export function socketFolder(dataDir: string, name: string, longestName: string, account: Account | undefined): string {
  const near = path.join(dataDir, name);
  if (Buffer.byteLength(path.join(near, longestName)) <= maxSocketPathBytes) return privateFolder(near, account);
  const record = `${near}.path`;
  const earlier = readIfThere(record);
  if (earlier !== undefined && isPrivate(earlier, account)) return earlier;
  const made = mkdtempSync('/tmp/parallax-');
  give(made, account);
  writeFileSync(record, made, { mode: 0o600 });
  return made;
}

/** Makes the folder (mode 0700, owned by the account) or makes sure that it is like that. */
export function privateFolder(folder: string, account: Account | undefined): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`);
  give(folder, account);
  return folder;
}

/** True for a real folder (no link) with mode 0700 that belongs to the account. */
export function isPrivate(folder: string, account: Account | undefined): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === (account?.uid ?? process.getuid?.()) && (stat.mode & 0o777) === 0o700;
  } catch {
    return false;
  }
}

/** Makes the data folder, and lets the account pass through it; what lies in it is protected one by one. */
export function openDataFolder(dataDir: string, account: Account | undefined): void {
  mkdirSync(dataDir, { recursive: true, mode: account === undefined ? 0o700 : 0o711 });
  const stat = lstatSync(dataDir);
  if (account !== undefined && stat.uid === process.getuid?.() && (stat.mode & 0o011) !== 0o011) {
    chmodSync(dataDir, (stat.mode & 0o777) | 0o011);
  }
}

function give(folder: string, account: Account | undefined): void {
  chmodSync(folder, 0o700);
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
