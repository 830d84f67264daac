import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@parallax/settings/programs';
import type { Test } from 'tap';
import { accepts, freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running, ServerCertificate } from './running.ts';

const admin = { bindDn: 'cn=admin,dc=test', password: 'hunter2' };

export type Slapd = Running & typeof admin & { readonly secureUrl: string };

/** OpenLDAP with three persons below `dc=test` that only its admin may read, StartTLS and ldaps; undefined where it is not installed. */
export async function startSlapd(
  t: Test,
  options: { readonly certificate: ServerCertificate },
): Promise<Slapd | undefined> {
  const folder = await ownFolder(t, 'slapd');
  const [port, implicit] = [await freePort(), await freePort()];
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'cert.pem'), options.certificate.cert);
  await writeFile(join(folder, 'key.pem'), options.certificate.key);
  await writeFile(
    join(folder, 'slapd.conf'),
    `include /etc/ldap/schema/core.schema
pidfile ${folder}/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
database mdb
maxsize 16777216
suffix "dc=test"
rootdn "${admin.bindDn}"
rootpw ${admin.password}
directory ${folder}/data
access to attrs=userPassword by anonymous auth by * none
access to * by users read by * none
`,
  );
  const persons = ['a', 'b', 'c'].map(
    (name) => `dn: cn=${name},dc=test\nobjectClass: person\ncn: ${name}\nsn: ${name}\n`,
  );
  await writeFile(
    join(folder, 'data.ldif'),
    `dn: dc=test\nobjectClass: dcObject\nobjectClass: organization\ndc: test\no: Test\n\n${persons.join('\n')}`,
  );
  const slapadd = findProgram('slapadd');
  if (slapadd !== undefined)
    await promisify(execFile)(slapadd, ['-f', join(folder, 'slapd.conf'), '-l', join(folder, 'data.ldif')]);
  const addresses = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${implicit}/`;
  const server = await startReal(t, {
    program: 'slapd',
    args: ['-d', '0', '-f', join(folder, 'slapd.conf'), '-h', addresses],
    ready: async () => (await accepts(port)) && accepts(implicit),
  });
  return (
    server && {
      port,
      url: `127.0.0.1:${port}`,
      secureUrl: `ldaps://127.0.0.1:${implicit}`,
      ...admin,
      stop: server.stop,
    }
  );
}
