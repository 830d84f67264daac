import { execFileSync } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '@parallax/settings/programs';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

export type MosquittoOptions = {
  /** Lines of configuration after the listener; `FOLDER` stands for where the files are. Absent: everybody may in. */
  readonly config?: string;
  /** Files by name; `users` holds names with their passwords. */
  readonly files?: Readonly<Record<string, string>>;
};

/** Mosquitto on one port; undefined where it is not installed. */
export async function startMosquitto(t: Test, options: MosquittoOptions = {}): Promise<Running | undefined> {
  // As root it gives up its rights, and reads its files as another user.
  const folder = await ownFolder(t, 'mosquitto');
  const { config = 'allow_anonymous true', files = {} } = options;
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const hash = findProgram('mosquitto_passwd');
  if (hash !== undefined && files['users'] !== undefined) execFileSync(hash, ['-U', join(folder, 'users')]);
  if (files['users'] !== undefined) await chmod(join(folder, 'users'), 0o644);
  const port = await freePort();
  await writeFile(join(folder, 'm.conf'), `listener ${port} 127.0.0.1\n${config.replaceAll('FOLDER', folder)}\n`);
  const server = await startReal(t, {
    program: 'mosquitto',
    args: ['-c', join(folder, 'm.conf')],
    ready: () => accepts(port),
  });
  return server && { port, url: `127.0.0.1:${port}`, stop: server.stop };
}
