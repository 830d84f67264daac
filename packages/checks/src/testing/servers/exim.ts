import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { needs } from '@parallax/testkit/needs';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running, ServerCertificate } from './running.ts';

const login = { username: 'probe', password: 'correct horse' };

export type Exim = Running & typeof login & { readonly tlsPort: number };

/** Exim with one user, STARTTLS on the first port and TLS from the start on the second; undefined where it is not installed or this is not root. */
export async function startExim(
  t: Test,
  options: { readonly certificate: ServerCertificate },
): Promise<Exim | undefined> {
  // Exim lets nobody else start its daemon.
  if (!needs(t, 'root', 'exim4')) return undefined;
  const folder = await ownFolder(t, 'exim');
  await chmod(folder, 0o777);
  const [port, tlsPort] = [await freePort(), await freePort()];
  await writeFile(join(folder, 'cert.pem'), options.certificate.cert);
  await writeFile(join(folder, 'key.pem'), options.certificate.key);
  const isUser = (name: string, word: string) =>
    `\${if and{{eq{${name}}{${login.username}}}{eq{${word}}{${login.password}}}}}`;
  await writeFile(
    join(folder, 'exim.conf'),
    `
primary_hostname = mail.test
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
pid_file_path = ${folder}/pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${port} : ${tlsPort}
tls_on_connect_ports = ${tlsPort}
tls_advertise_hosts = *
tls_certificate = ${folder}/cert.pem
tls_privatekey = ${folder}/key.pem
auth_advertise_hosts = *
rfc1413_query_timeout = 0s
keep_environment =
begin authenticators
PLAIN:
  driver = plaintext
  server_prompts = :
  server_condition = ${isUser('$auth2', '$auth3')}
LOGIN:
  driver = plaintext
  server_prompts = Username:: : Password::
  server_condition = ${isUser('$auth1', '$auth2')}
`,
  );
  const server = await startReal(t, {
    program: 'exim4',
    args: ['-bdf', '-C', join(folder, 'exim.conf')],
    ready: async () => (await accepts(port)) && accepts(tlsPort),
  });
  return server && { port, url: `127.0.0.1:${port}`, tlsPort, ...login, stop: server.stop };
}
