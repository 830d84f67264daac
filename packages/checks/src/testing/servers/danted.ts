import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

export type DantedOptions = {
  /** Whether it lets everybody in or asks for a user of the machine; absent: everybody. */
  readonly method?: 'none' | 'username';
};

/** Dante, which connects to anything but 127.0.0.9; undefined where it is not installed. */
export async function startDanted(t: Test, { method = 'none' }: DantedOptions = {}): Promise<Running | undefined> {
  const folder = await ownFolder(t, 'danted');
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  const lines = [
    'logoutput: stderr',
    `internal: 127.0.0.1 port = ${port}`,
    'external: 127.0.0.1',
    `socksmethod: ${method}`,
    'clientmethod: none',
    ...(isRoot ? ['user.privileged: root', 'user.unprivileged: nobody'] : []),
    'client pass { from: 0/0 to: 0/0 }',
    'socks block { from: 0/0 to: 127.0.0.9/32 }',
    'socks pass { from: 0/0 to: 0/0 command: connect }',
  ];
  await writeFile(join(folder, 'danted.conf'), lines.join('\n'));
  const server = await startReal(t, {
    program: 'danted',
    args: ['-N', '1', '-f', join(folder, 'danted.conf'), '-p', join(folder, 'danted.pid')],
    ready: () => accepts(port),
  });
  return server && { port, url: `127.0.0.1:${port}`, stop: server.stop };
}
