import { readFileSync } from 'node:fs';
import { createMonitorRoute } from '@parallax/api-contract';
import { checkTypeOf, errorCodes, protocols, settingsSchema } from '@parallax/checks';
import type { Protocol } from '@parallax/checks';
import t from 'tap';
import type { ZodObject } from 'zod';

const reference = readFileSync('docs/checks.md', 'utf8');
/** Settings that stand in the section on those of every type. */
const ofEveryType = new Set([
  'assertions',
  'inverted',
  'all_addresses',
  'bad_address_severity',
  'detect_stub_pages',
  'resolver',
  'proxy',
  'proxy_password',
  'proxy_ca_certificates',
]);

/** The section of a type. */
function sectionOf(protocol: Protocol): string {
  const heading = new RegExp(`^### .*\`${protocol}\`.*$`, 'm').exec(reference);
  const from = heading?.index ?? reference.length;
  return reference.slice(from, reference.indexOf('\n## ', from)).split(/\n(?=### )/)[0] ?? '';
}

t.test('every setting of every type has a row with its meaning, and secret ones say so', async (t) => {
  for (const protocol of protocols) {
    const section = sectionOf(protocol);
    const { secretFields } = checkTypeOf(protocol);
    const names = Object.keys((settingsSchema(protocol) as ZodObject).shape).filter((name) => !ofEveryType.has(name));
    for (const name of names) {
      const row = new RegExp(`^\\| \`${name}\` \\|.*\\| ([^|\n]+) \\|$`, 'm').exec(section.replaceAll('\\|', ' '));
      t.match(row?.[1], /[a-z]{2,} .*\w/, `${protocol}: ${name}`);
      t.equal(/\*\*Secret\.\*\*/.test(row?.[1] ?? ''), secretFields.includes(name), `${protocol}: ${name} is secret`);
    }
  }
});

t.test('the settings of every type have a row with its meaning too', async (t) => {
  const section = /^## Settings of every type$[^]*?^### /m.exec(reference)?.[0] ?? '';
  for (const name of ofEveryType) t.match(section, new RegExp(`^\\| \`${name}\` \\|.*[a-z]{2,} .*\\|$`, 'm'), name);
  t.match(section, /^\| `proxy_password` \|.*\*\*Secret\.\*\*/m);
  t.match(section, /`proxy` and what begins with it to `http`, .*`tcp`/);
});

t.test('every type has targets, phases, error codes and an example that the API takes', async (t) => {
  for (const protocol of protocols) {
    const section = sectionOf(protocol);
    t.match(section, /^Target: `/m, protocol);
    t.match(section, /^Phases: `/m, protocol);
    const codes = /^Error codes beside those of every type: (.*)\.$/m.exec(section)?.[1] ?? '';
    t.ok(codes.split(', ').length >= 4, `${protocol}: ${codes}`);
    for (const [, code = ''] of codes.matchAll(/`(\w+)`/g)) t.ok(Object.hasOwn(errorCodes, code), code);
    const example = JSON.parse(/```json\n(.*)\n```/.exec(section)?.[1] ?? '') as { protocol: Protocol };
    t.ok(createMonitorRoute.body?.safeParse(example).success, `${protocol}: the example is a body of POST /monitors`);
    t.ok(section.includes(`\`${example.protocol}\``), 'of this type');
  }
});

t.test('types list the codes that they are known to give', async (t) => {
  const known = {
    http: ['http_status', 'keyword_missing', 'oauth2_token', 'those of certificates', 'those of names and addresses'],
    dns: ['dns_wrong_answer', 'dns_not_authentic'],
    postgres: ['db_auth_failed', 'db_wrong_result'],
    ssh: ['ssh_host_key', 'ssh_login'],
    icmp: ['ping_no_reply', 'ping_loss'],
    pagespeed: ['pagespeed_budget', 'tls_expired'],
  } as const;
  for (const [protocol, codes] of Object.entries(known))
    for (const code of codes)
      t.match(/^Error codes.*$/m.exec(sectionOf(protocol as Protocol))?.[0], code, `${protocol}: ${code}`);
  for (const protocol of ['tcp', 'icmp', 'ntp', 'ssh'] as const)
    t.notMatch(/^Error codes.*$/m.exec(sectionOf(protocol))?.[0], /certificates|tls_/, `${protocol} speaks no TLS`);
});
