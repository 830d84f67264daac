import { execFileSync } from 'node:child_process';
import { chown, mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { ServerCertificate } from './running.ts';

/** The user and group nobody, who own the mail where this is root: Dovecot refuses mail of root. */
const nobody = { uid: 65534, gid: 65534 };
const login = { username: 'probe', password: 'correct horse' };

export type Dovecot = typeof login & {
  readonly imap: number;
  readonly imaps: number;
  readonly pop3: number;
  readonly pop3s: number;
  readonly stop: () => Promise<void>;
};

/** Dovecot with one user, STARTTLS on two of its ports and TLS from the start on the others; undefined where it is not installed. */
export async function startDovecot(
  t: Test,
  options: { readonly certificate: ServerCertificate },
): Promise<Dovecot | undefined> {
  const folder = await ownFolder(t, 'dovecot');
  const mail = join(folder, 'mail');
  await mkdir(mail);
  const isRoot = process.getuid?.() === 0;
  const { uid, gid } = isRoot ? nobody : userInfo();
  if (isRoot) await chown(mail, uid, gid);
  const [imap, imaps, pop3, pop3s] = [await freePort(), await freePort(), await freePort(), await freePort()];
  await writeFile(join(folder, 'cert.pem'), options.certificate.cert);
  await writeFile(join(folder, 'key.pem'), options.certificate.key);
  await writeFile(join(folder, 'users'), `${login.username}:{PLAIN}${login.password}:${uid}:${gid}::${mail}\n`);
  // Only root may give its processes other accounts and another root folder.
  const { username } = userInfo();
  const group = execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim();
  const accounts = isRoot
    ? ''
    : `default_login_user = ${username}\ndefault_internal_user = ${username}\ndefault_internal_group = ${group}\n`;
  const chroot = isRoot ? '' : ' chroot =\n';
  const listener = (name: string, port: number, ssl: boolean) =>
    `inet_listener ${name} {\n address = 127.0.0.1\n port = ${port}\n ssl = ${ssl ? 'yes' : 'no'}\n}\n`;
  await writeFile(
    join(folder, 'dovecot.conf'),
    `base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = /dev/stderr
${accounts}protocols = imap pop3
listen = 127.0.0.1
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
auth_mechanisms = plain login
auth_failure_delay = 0
mail_location = maildir:${mail}
passdb {
 driver = passwd-file
 args = ${folder}/users
}
userdb {
 driver = passwd-file
 args = ${folder}/users
}
service imap-login {
${chroot}${listener('imap', imap, false)}${listener('imaps', imaps, true)}}
service pop3-login {
${chroot}${listener('pop3', pop3, false)}${listener('pop3s', pop3s, true)}}
service anvil {
${chroot} unix_listener anvil-auth-penalty {
  mode = 0
 }
}
`,
  );
  const server = await startReal(t, {
    program: 'dovecot',
    args: ['-F', '-c', join(folder, 'dovecot.conf')],
    ready: async () => (await Promise.all([imap, imaps, pop3, pop3s].map(accepts))).every(Boolean),
  });
  return server && { imap, imaps, pop3, pop3s, ...login, stop: server.stop };
}
