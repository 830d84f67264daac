// A PATH of a machine on which nothing optional is installed: only what a plain Debian with git, Node and npm has.
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chooseDataFolder } from '../packages/embedded/src/data-folder.mjs';
import { findNatsServer } from '../packages/embedded/src/nats-binary.mjs';
import { findProgram } from '../packages/settings/src/programs.mjs';
import { productNode, root } from './install.mjs';

/** Programs of Debian's packages that every installation has, and git. Whatever else a test calls is optional. */
const plain = {
  bash: 'bash',
  coreutils: `[ b2sum base32 base64 basename cat chgrp chmod chown chroot cksum comm cp csplit cut date dd df dir dircolors dirname du echo
    env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl
    nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm rmdir runcon seq sha1sum sha256sum sha512sum
    shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq
    unlink users vdir wc who whoami yes`,
  dash: 'sh dash',
  debianutils: 'which',
  diffutils: 'cmp diff',
  dpkg: 'dpkg dpkg-deb dpkg-query',
  findutils: 'find xargs',
  git: 'git',
  grep: 'egrep fgrep grep',
  gzip: 'gunzip gzip zcat',
  hostname: 'hostname',
  'libc-bin': 'getconf getent ldd locale',
  mawk: 'awk mawk',
  'perl-base': 'perl',
  sed: 'sed',
  tar: 'tar',
  'util-linux': 'flock ionice lsblk mount mountpoint nsenter prlimit setpriv setsid su taskset umount unshare',
};

/** Names of what every test may use: it is on a plain system, comes with the packages, or is fetched by `npm test` itself. */
export const plainPrograms = new Set([
  ...Object.values(plain).flatMap((line) => line.split(/\s+/)),
  'initdb',
  'nats-server',
  'node',
  'npm',
  'postgres',
]);

/**
 * Makes a folder of links to the plain programs, npm, Node and nats-server, which `npm test` fetches by itself. `PATH` is that folder and
 * the folder of the programs of the npm packages. It names no folder of the system, so nothing is looked for there (`programFolders`).
 * `remove` takes the folder away.
 */
export function barePath() {
  const { folder: dataDir } = chooseDataFolder({ named: process.env.PARALLAX_DATA_DIR, checkout: root });
  const names = Object.values(plain).flatMap((line) => line.split(/\s+/));
  const files = {
    ...Object.fromEntries([...names, 'npm'].map((name) => [name, findProgram(name)])),
    node: productNode(),
    'nats-server': findNatsServer(process.env, { dataDir })?.path,
  };
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-bare-'));
  // Tests start programs under other accounts, too.
  chmodSync(folder, 0o755);
  for (const [name, file] of Object.entries(files)) if (file !== undefined) symlinkSync(file, path.join(folder, name));
  return {
    PATH: [path.join(root, 'node_modules/.bin'), folder].join(path.delimiter),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
