import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@parallax/settings/programs';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running, ServerCertificate } from './running.ts';

/** A user with all rights, by native password; the others are `empty` without a password and `tls_only`. */
const login = { username: 'native', password: 'right one' };

const setup = [
  'CREATE DATABASE shop;',
  `CREATE USER '${login.username}'@'127.0.0.1' IDENTIFIED BY '${login.password}';`,
  "CREATE USER 'empty'@'127.0.0.1';",
  `CREATE USER 'tls_only'@'127.0.0.1' IDENTIFIED BY '${login.password}' REQUIRE SSL;`,
  `GRANT ALL ON *.* TO '${login.username}'@'127.0.0.1';`,
  "GRANT SELECT ON shop.* TO 'empty'@'127.0.0.1';",
  'CREATE TABLE shop.kept (n int);',
  'INSERT INTO shop.kept VALUES (7);',
];

/** MariaDB with data of its own, a table `shop.kept` that holds 7, and TLS; undefined where it is not installed. */
export async function startMariadb(
  t: Test,
  options: { readonly certificate: ServerCertificate },
): Promise<(Running & typeof login) | undefined> {
  const folder = await ownFolder(t, 'mariadb');
  const at = (name: string) => join(folder, name);
  await writeFile(at('key.pem'), options.certificate.key);
  await writeFile(at('cert.pem'), options.certificate.cert);
  await writeFile(at('setup.sql'), setup.join('\n'));
  const { username } = userInfo();
  const installer = findProgram('mariadb-install-db');
  if (installer !== undefined) {
    const { NODE_OPTIONS: _ours, ...env } = process.env;
    const kind = ['--auth-root-authentication-method=normal', '--skip-test-db'];
    execFileSync(installer, ['--no-defaults', `--datadir=${at('data')}`, `--user=${username}`, ...kind], { env });
  }
  const port = await freePort();
  const server = await startReal(t, {
    program: 'mariadbd',
    args: [
      '--no-defaults',
      `--user=${username}`,
      `--datadir=${at('data')}`,
      `--socket=${at('socket')}`,
      `--pid-file=${at('pid')}`,
      `--init-file=${at('setup.sql')}`,
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      `--ssl-cert=${at('cert.pem')}`,
      `--ssl-key=${at('key.pem')}`,
      '--skip-name-resolve',
    ],
    ready: () => accepts(port),
  });
  return server && { port, url: `127.0.0.1:${port}`, ...login, stop: server.stop };
}
