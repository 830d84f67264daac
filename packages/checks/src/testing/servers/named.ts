import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '@parallax/settings/programs';
import { countMissing } from '@parallax/testkit/needs';
import type { Test } from 'tap';
import { freePort, ownFolder, startReal } from '../real-server.ts';
import type { Running, ServerCertificate } from './running.ts';

export type Named = Running & {
  readonly tls: number;
  readonly https: number;
  /** The DS record of `signed.test`, as `tag,algorithm,type,digest`. */
  readonly ds: string;
};

const soa = '@ IN SOA ns.signed.test. hostmaster.signed.test. 7 3600 600 86400 60\n@ IN NS ns.signed.test.\n';
const zone = `$TTL 300
${soa}@ IN MX 10 mail.signed.test.
@ IN CAA 0 issue "ca.example"
@ IN TXT "one" "two"
ns IN A 127.0.0.1
www IN A 192.0.2.10
_sip._udp IN SRV 1 2 5060 www.signed.test.
alias IN CNAME www.signed.test.
`;
const reverse = `$TTL 300\n${soa}10 IN PTR www.signed.test.\n`;
/** A blocklist as RFC 5782 describes it: its test entry 127.0.0.2, and one address beside it. */
const blocklist = `$TTL 300
${soa}2.0.0.127 IN A 127.0.0.2
2.0.0.127 IN TXT "a test entry"
7.0.0.127 IN A 127.0.0.4
7.0.0.127 IN TXT "seen sending spam"
`;

/**
 * BIND with `signed.test` (signed), the reverse zone of 192.0.2.0/24 and the blocklist `list.test`, over UDP and TCP on the first port, over
 * TLS and HTTPS on the others. Undefined where it is not installed.
 */
export async function startNamed(
  t: Test,
  options: { readonly certificate: ServerCertificate },
): Promise<Named | undefined> {
  const [port, tls, https] = [await freePort(), await freePort(), await freePort()];
  const folder = await ownFolder(t, 'named');
  const files = {
    'signed.test.zone': zone,
    'reverse.zone': reverse,
    'list.zone': blocklist,
    'leaf.pem': options.certificate.cert,
    'leaf.key': options.certificate.key,
    'named.conf': `tls own { cert-file "${folder}/leaf.pem"; key-file "${folder}/leaf.key"; };
controls {};
options {
  directory "${folder}"; pid-file none; session-keyfile none;
  recursion no; dnssec-validation no; listen-on-v6 { none; };
  listen-on port ${port} { 127.0.0.1; };
  listen-on port ${tls} tls own { 127.0.0.1; };
  listen-on port ${https} tls own http default { 127.0.0.1; };
};
zone "signed.test" { type primary; file "signed.test.zone.signed"; };
zone "2.0.192.in-addr.arpa" { type primary; file "reverse.zone"; };
zone "list.test" { type primary; file "list.zone"; };
`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  if (findProgram('dnssec-signzone') === undefined) {
    countMissing(t, 'dnssec-signzone');
    return undefined;
  }
  const ds = sign(folder);
  const server = await startReal(t, {
    program: 'named',
    args: ['-g', '-n', '1', '-c', join(folder, 'named.conf')],
    ready: /\brunning$/m,
  });
  return server && { port, url: `127.0.0.1:${port}`, tls, https, ds, stop: server.stop };
}

/** Signs the zone with a new key and gives the DS record of it. */
function sign(folder: string): string {
  const run = (program: string, ...args: string[]) =>
    execFileSync(findProgram(program) ?? program, args, { cwd: folder, stdio: 'pipe' }).toString();
  run('dnssec-keygen', '-q', '-a', 'ECDSAP256SHA256', '-f', 'KSK', 'signed.test');
  run('dnssec-signzone', '-S', '-z', '-o', 'signed.test', 'signed.test.zone');
  const key = readdirSync(folder).find((name) => name.endsWith('.key')) ?? '';
  const [, tag, algorithm, type, digest] =
    /DS (\d+) (\d+) (\d+) ([0-9A-F ]+)/.exec(run('dnssec-dsfromkey', '-2', key)) ?? [];
  return [tag, algorithm, type, digest?.replaceAll(' ', '')].join(',');
}
