import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { chooseDataFolder, findNatsServer } from '@parallax/embedded';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

export type NatsOptions = {
  /** Lines of configuration after the address; `FOLDER` stands for where the files are. */
  readonly config?: string;
  readonly files?: Readonly<Record<string, string>>;
};

/** nats-server on one port; undefined where there is none. */
export async function startNats(t: Test, options: NatsOptions = {}): Promise<Running | undefined> {
  const folder = await ownFolder(t, 'nats');
  for (const [name, text] of Object.entries(options.files ?? {})) await writeFile(join(folder, name), text);
  const port = await freePort();
  const checkout = resolve(import.meta.dirname, '../../../../..');
  const { folder: dataDir } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout });
  const config = (options.config ?? '').replaceAll('FOLDER', folder);
  await writeFile(join(folder, 'nats.conf'), `listen: 127.0.0.1:${port}\n${config}\n`);
  const server = await startReal(t, {
    program: findNatsServer(process.env, { dataDir })?.path ?? 'nats-server',
    args: ['-c', join(folder, 'nats.conf')],
    cwd: folder,
    ready: () => accepts(port),
  });
  return server && { port, url: `127.0.0.1:${port}`, stop: server.stop };
}
