// Plain JavaScript without dependencies: the start script needs it before anything is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

const accountNames = ['postgres', '_postgres', 'nobody'];

export function databaseAccount() {
  if (process.getuid?.() !== 0) return undefined;
  const rows = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of accountNames) {
    const row = rows.find((fields) => fields[0] === name);
    // nobody has the uid -2 on some systems, as an unsigned number.
    if (row !== undefined) return { name, uid: Number(row[2]) >>> 0, gid: Number(row[3]) >>> 0 };
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and this system has none of the accounts ${accountNames.join(', ')}`,
  );
}

export function isReachable(folder, account) {
  const ids = account === undefined ? {} : { uid: account.uid, gid: account.gid };
  return spawnSync('/bin/sh', ['-c', 'test -x "$0"', folder], { ...ids, cwd: '/', stdio: 'ignore' }).status === 0;
}

export function chooseDataFolder({ named, checkout }) {
  if (named !== undefined && named !== '') return { folder: path.resolve(named), isRelocated: false };
  const folder = path.join(checkout, 'data');
  const account = databaseAccount();
  if (account === undefined || isReachable(nearestExisting(folder), account)) return { folder, isRelocated: false };
  const real = realpathSync(checkout);
  const key = createHash('sha256').update(real).digest('hex').slice(0, 8);
  return { folder: path.join('/var/lib/parallax', `${path.basename(real)}-${key}`), isRelocated: true };
}

function nearestExisting(folder) {
  let at = folder;
  while (!existsSync(at) && path.dirname(at) !== at) at = path.dirname(at);
  return at;
}
