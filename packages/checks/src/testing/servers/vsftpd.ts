import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running, ServerCertificate } from './running.ts';

const login = { username: 'anonymous', password: 'probe@test' };

export type Vsftpd = Running &
  typeof login & {
    /** The one password that it refuses. */
    readonly banned: string;
    /** What its paths begin with: the folder of the files where only the rights of root would let it become `/`. */
    readonly root: string;
  };

export type VsftpdOptions = {
  readonly tls: 'none' | 'explicit' | 'implicit';
  readonly certificate: ServerCertificate;
};

/** vsftpd for anonymous users, with three names in `root/` and one in `root/with space`; undefined where it is not installed. */
export async function startVsftpd(t: Test, { tls, certificate }: VsftpdOptions): Promise<Vsftpd | undefined> {
  const folder = await ownFolder(t, 'vsftpd');
  const banned = 'mallory@test';
  await mkdir(join(folder, 'empty'));
  await mkdir(join(folder, 'files', 'with space'), { recursive: true });
  for (const name of ['one', 'two', 'with space/three']) await writeFile(join(folder, 'files', name), name);
  await writeFile(join(folder, 'cert.pem'), certificate.cert);
  await writeFile(join(folder, 'key.pem'), certificate.key);
  await writeFile(join(folder, 'banned'), `${banned}\n`);
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  const configuration = {
    background: 'NO',
    listen: 'YES',
    listen_address: '127.0.0.1',
    listen_port: port,
    anonymous_enable: 'YES',
    local_enable: 'NO',
    anon_root: join(folder, 'files'),
    secure_chroot_dir: join(folder, 'empty'),
    deny_email_enable: 'YES',
    banned_email_file: join(folder, 'banned'),
    delay_failed_login: 0,
    seccomp_sandbox: 'NO',
    isolate: 'NO',
    isolate_network: 'NO',
    xferlog_enable: 'NO',
    ...(!isRoot && { run_as_launching_user: 'YES' }),
    ...(tls !== 'none' && {
      ssl_enable: 'YES',
      allow_anon_ssl: 'YES',
      force_anon_logins_ssl: 'YES',
      force_anon_data_ssl: 'YES',
      implicit_ssl: tls === 'implicit' ? 'YES' : 'NO',
      rsa_cert_file: join(folder, 'cert.pem'),
      rsa_private_key_file: join(folder, 'key.pem'),
      ssl_ciphers: 'HIGH',
    }),
  };
  const lines = Object.entries(configuration).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, 'vsftpd.conf'), lines.join(''));
  const server = await startReal(t, {
    program: 'vsftpd',
    args: [join(folder, 'vsftpd.conf')],
    ready: () => accepts(port),
  });
  return (
    server && {
      port,
      url: `127.0.0.1:${port}`,
      ...login,
      banned,
      root: isRoot ? '' : join(folder, 'files'),
      stop: server.stop,
    }
  );
}
