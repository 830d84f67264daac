// Plain JavaScript without dependencies: the start script needs it before anything is installed.
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

const systemFolders = [
  '/usr/local/bin',
  '/usr/local/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/bin',
  '/sbin',
  '/opt/homebrew/bin',
  '/opt/google/chrome',
];

export function programFolders(env = process.env) {
  const named = (env['PATH'] ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const folders = named.map((folder) => path.resolve(folder));
  const isApart = folders.length > 0 && !folders.some((folder) => systemFolders.includes(folder));
  return [...new Set(isApart ? folders : [...folders, ...systemFolders])];
}

export function findProgram(name, folders = programFolders()) {
  return folders.map((folder) => path.join(folder, name)).find(isProgram);
}

export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
