import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { issue } from '../certificates.ts';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

export type Redis = Running & {
  readonly tlsPort: number;
  /** The authority of what it shows on that port. */
  readonly ca: string;
  readonly password: string;
};

/** Redis behind a password, plain and over TLS, with a user `limited` who may only ping; undefined where it is not installed. */
export async function startRedis(t: Test): Promise<Redis | undefined> {
  const folder = await ownFolder(t, 'redis');
  const authority = await issue({ name: 'Data authority', authority: true });
  const issued = await issue({ name: 'db', by: authority, addresses: ['127.0.0.1'] });
  await writeFile(join(folder, 'key.pem'), issued.key);
  await writeFile(join(folder, 'cert.pem'), issued.cert);
  const [port, tlsPort] = [await freePort(), await freePort()];
  const password = 'right one';
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `tls-port ${tlsPort}`,
    `tls-cert-file ${folder}/cert.pem`,
    `tls-key-file ${folder}/key.pem`,
    `tls-ca-cert-file ${folder}/cert.pem`,
    'tls-auth-clients no',
    'save ""',
    `dir ${folder}`,
    `requirepass "${password}"`,
    'user limited on >limited ~* +ping',
  ];
  await writeFile(join(folder, 'conf'), lines.join('\n'));
  const server = await startReal(t, {
    program: 'redis-server',
    args: [join(folder, 'conf')],
    ready: async () => (await accepts(port)) && accepts(tlsPort),
  });
  return server && { port, url: `127.0.0.1:${port}`, tlsPort, ca: authority.cert, password, stop: server.stop };
}
