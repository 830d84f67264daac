import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

/** The script that Debian has in PATH wants another user and the system's folders. */
const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** RabbitMQ with ports, folders, a cookie and a name service of its own, and its user guest; undefined where it is not installed. */
export async function startRabbitmq(t: Test): Promise<Running | undefined> {
  const folder = await ownFolder(t, 'rabbitmq');
  const [port, distribution, names] = [await freePort(), await freePort(), await freePort()];
  await writeFile(join(folder, '.erlang.cookie'), randomBytes(12).toString('hex'), { mode: 0o400 });
  await writeFile(join(folder, 'plugins'), '[].\n');
  await writeFile(join(folder, 'r.conf'), `listeners.tcp.1 = 127.0.0.1:${port}\n`);
  const epmd = await startReal(t, {
    program: 'epmd',
    args: ['-port', String(names), '-address', '127.0.0.1'],
    ready: () => accepts(names),
  });
  if (epmd === undefined) return undefined;
  const server = await startReal(t, {
    program: existsSync(program) ? program : 'rabbitmq-server',
    args: [],
    env: {
      HOME: folder,
      ERL_EPMD_PORT: String(names),
      RABBITMQ_NODENAME: `check${port}@localhost`,
      RABBITMQ_DIST_PORT: String(distribution),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-noinput -kernel inet_dist_use_interface {127,0,0,1}',
      RABBITMQ_MNESIA_BASE: join(folder, 'db'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_CONFIG_FILE: join(folder, 'r.conf'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
      // With input allowed the script becomes the server instead of its parent.
      RABBITMQ_ALLOW_INPUT: '1',
    },
    ready: () => accepts(port),
    readyWithinMs: 90_000,
  });
  return server && { port, url: `127.0.0.1:${port}`, stop: server.stop };
}
