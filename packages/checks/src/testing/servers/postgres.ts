import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { preparePostgres, runProcess } from '@parallax/embedded';
import pg from 'pg';
import type { Test } from 'tap';
import { issue } from '../certificates.ts';
import { freePort, ownFolder } from '../real-server.ts';
import type { Running } from './running.ts';

export type Postgres = Running & {
  /** The authority of what it shows. */
  readonly ca: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
};

const rules = [
  'hostssl all  tls_only  127.0.0.1/32 scram-sha-256',
  'host    all  tls_only  127.0.0.1/32 reject',
  'host    all  md5_user  127.0.0.1/32 md5',
  'host    all  plain     127.0.0.1/32 password',
  'host    all  trusted   127.0.0.1/32 trust',
  'host    all  scrammed  127.0.0.1/32 scram-sha-256',
];

const setup = `
  SET password_encryption = 'md5'; CREATE ROLE md5_user LOGIN PASSWORD 'right one';
  SET password_encryption = 'scram-sha-256';
  CREATE ROLE plain LOGIN PASSWORD 'right one'; CREATE ROLE scrammed LOGIN PASSWORD 'right one';
  CREATE ROLE tls_only LOGIN PASSWORD 'right one'; CREATE ROLE trusted LOGIN;
  CREATE TABLE kept (n int); INSERT INTO kept VALUES (7); GRANT ALL ON kept TO PUBLIC;
`;

/** PostgreSQL on loopback with TLS, a table `kept` that holds 7, and a user for each way of authentication; it comes with the packages. */
export async function startPostgres(t: Test): Promise<Postgres> {
  const folder = await ownFolder(t, 'postgres');
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const { spec, url } = await preparePostgres({ dataDir: folder, durable: false, log });
  const authority = await issue({ name: 'Data authority', authority: true });
  const issued = await issue({ name: 'db', by: authority, addresses: ['127.0.0.1'] });
  const at = (name: string) => path.join(folder, name);
  writeFileSync(at('key.pem'), issued.key);
  // PostgreSQL refuses a key that its group may read unless the key belongs to root.
  chmodSync(at('key.pem'), spec.uid === undefined ? 0o600 : 0o640);
  if (spec.uid !== undefined) chownSync(at('key.pem'), 0, spec.gid ?? 0);
  writeFileSync(at('cert.pem'), issued.cert);
  writeFileSync(at('hba'), `local all all trust\n${rules.join('\n')}\n`);
  const port = await freePort();
  const more = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    hba_file: at('hba'),
    ssl: 'on',
    ssl_cert_file: at('cert.pem'),
    ssl_key_file: at('key.pem'),
  };
  const running = await runProcess({
    ...spec,
    args: [...spec.args, ...Object.entries(more).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
  });
  const stop = () => running.stop().then(() => undefined);
  t.teardown(stop);
  const sockets = decodeURIComponent(/@([^/]+)/.exec(url('postgres'))?.[1] ?? '');
  const admin = new pg.Client({ host: sockets, port, user: 'parallax_owner', database: 'postgres' });
  await admin.connect();
  await admin.query(setup);
  await admin.end();
  const login = { username: 'scrammed', password: 'right one', database: 'postgres' };
  return { port, url: `127.0.0.1:${port}`, ca: authority.cert, ...login, stop };
}
