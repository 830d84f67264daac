import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@parallax/settings/programs';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

export type Sshd = Running & {
  readonly username: string;
  /** A key that may log in, and the same encrypted with `passphrase`. */
  readonly key: string;
  readonly encryptedKey: string;
  readonly passphrase: string;
  /** As ssh-keygen writes it. */
  readonly hostFingerprint: string;
  readonly folder: string;
};

/** OpenSSH with SFTP for the user of the test, by key; undefined where it is not installed. */
export async function startSshd(t: Test): Promise<Sshd | undefined> {
  const folder = await ownFolder(t, 'sshd');
  const port = await freePort();
  const passphrase = 'open sesame';
  const keygen = findProgram('ssh-keygen');
  const make = (name: string, words: string) =>
    execFileSync(keygen ?? 'none', ['-q', '-t', 'ed25519', '-N', words, '-f', join(folder, name)]);
  if (keygen !== undefined) {
    for (const name of ['host', 'user']) make(name, '');
    make('locked', passphrase);
    const keys = [await readFile(join(folder, 'user.pub'), 'utf8'), await readFile(join(folder, 'locked.pub'), 'utf8')];
    await writeFile(join(folder, 'authorized'), keys.join(''));
  }
  const configuration = `Port ${port}
ListenAddress 127.0.0.1
HostKey ${folder}/host
AuthorizedKeysFile ${folder}/authorized
StrictModes no
PidFile none
UsePAM no
PasswordAuthentication yes
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 100
Subsystem sftp internal-sftp
`;
  await writeFile(join(folder, 'sshd_config'), configuration);
  // OpenSSH wants this folder whatever it is told; it is part of a running system and absent in a container that never ran one.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const server = await startReal(t, {
    program: 'sshd',
    args: ['-D', '-e', '-f', join(folder, 'sshd_config')],
    ready: () => accepts(port),
  });
  if (server === undefined || keygen === undefined) return undefined;
  const listed = execFileSync(keygen, ['-l', '-E', 'sha256', '-f', join(folder, 'host.pub')], {
    encoding: 'utf8',
  });
  return {
    port,
    url: `127.0.0.1:${port}`,
    folder,
    passphrase,
    username: userInfo().username,
    key: await readFile(join(folder, 'user'), 'utf8'),
    encryptedKey: await readFile(join(folder, 'locked'), 'utf8'),
    hostFingerprint: /SHA256:\S+/.exec(listed)?.[0] ?? '',
    stop: server.stop,
  };
}
