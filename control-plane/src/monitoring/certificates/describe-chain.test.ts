import type { SentChain } from '@parallax/checks';
import t from 'tap';
import { issue } from '../../../../packages/checks/src/testing/certificates.ts';
import type { Issued } from '../../../../packages/checks/src/testing/certificates.ts';
import { describeChain } from './describe-chain.ts';

const chain = (all: readonly Issued[], trustError: string | null): SentChain => ({
  certificates: all.map(({ certificate }) => Buffer.from(certificate.rawData).toString('base64')),
  trust_error: trustError,
  tls_version: 'TLSv1.3',
  cipher: 'TLS_AES_128_GCM_SHA256',
});
const problems = (all: readonly Issued[], trustError: string | null, host = 'a.test') =>
  describeChain(chain(all, trustError), host, Date.now()).problems.map(
    ({ code, certificate }) => `${code} ${certificate ?? '-'}`,
  );

void t.test('what is wrong with a chain is named, with the certificate that it concerns', async (t) => {
  const root = await issue({ name: 'root', authority: true });
  const middle = await issue({ name: 'middle', authority: true, by: root });
  const lower = await issue({ name: 'lower', authority: true, by: middle });
  const leaf = await issue({ name: 'leaf', by: lower, dnsNames: ['a.test', '*.b.test'], addresses: ['192.0.2.1'] });
  const other = await issue({ name: 'other', authority: true });
  // The same name as the issuer, another key.
  const impostor = await issue({ name: 'lower', authority: true, by: middle });
  const whole = [leaf, lower, middle];
  t.same(problems(whole, null), []);
  t.same(problems([...whole, root], 'SELF_SIGNED_CERT_IN_CHAIN'), ['untrusted -']);
  t.same(problems([leaf], 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'), ['missing_intermediate -']);
  t.same(problems([leaf, middle], 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'), ['unrelated 1', 'missing_intermediate -']);
  t.same(problems([leaf, middle, lower], null), ['wrong_order -']);
  t.same(problems([leaf, lower, lower, middle], null), ['unrelated 2']);
  t.same(problems([leaf, other, lower, middle], null), ['unrelated 1']);
  t.same(problems([leaf, impostor, middle], 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'), [
    'unrelated 1',
    'unrelated 2',
    'missing_intermediate -',
  ]);
  t.same(problems(whole, null, 'x.b.test'), []);
  t.same(problems(whole, null, 'x.y.b.test'), ['wrong_host 0']);
  t.same(problems(whole, null, '192.0.2.1'), []);
  t.same(problems(whole, null, '192.0.2.2'), ['wrong_host 0']);
  const roles = describeChain(chain([...whole, root], null), 'a.test', Date.now()).certificates.map(({ role }) => role);
  t.same(roles, ['leaf', 'intermediate', 'intermediate', 'root']);
});

void t.test('dates and keys of each certificate are judged', async (t) => {
  const root = await issue({ name: 'root', authority: true });
  const old = await issue({ name: 'old', authority: true, by: root, fromDays: -20, untilDays: -10 });
  const leaf = await issue({ name: 'leaf', by: old, dnsNames: ['a.test'], fromDays: 3 });
  t.same(problems([leaf, old], 'CERT_HAS_EXPIRED'), ['not_yet_valid 0', 'expired 1']);
  const self = await issue({ name: 'a.test', dnsNames: ['a.test'], rsaBits: 1_024 });
  t.same(problems([self], 'DEPTH_ZERO_SELF_SIGNED_CERT'), ['self_signed 0', 'weak_key 0']);
  const seen = describeChain(chain([self], null), 'a.test', Date.now());
  t.match(seen, { trusted: false, certificates: [{ role: 'leaf', key_type: 'rsa', key_bits: 1_024, days_left: 90 }] });
  const [first] = seen.certificates;
  t.match(first?.fingerprint_sha256, /^[0-9a-f]{64}$/);
  t.match(first?.serial_number, /^[0-9A-F]+$/);
});

void t.test(
  'what is no certificate makes no chain, and a code nobody knows is not passed on as a sentence',
  async (t) => {
    const root = await issue({ name: 'root', authority: true });
    const good = chain([root], null);
    if (!('certificates' in good)) throw new Error('unreachable');
    for (const certificates of [[], ['MAo='], [...good.certificates, 'AAAA']])
      t.match(describeChain({ ...good, certificates }, 'a.test', 0), { certificates: [], error_code: 'tls_handshake' });
    for (const [code, reachable] of [
      ['tls_timeout', true],
      ['starttls_refused', true],
      ['response_timeout', true],
      ['connect_refused', false],
      ['dns_nxdomain', false],
      ['address_denied', false],
      ['toString', false],
      ['made_up', false],
    ] as const)
      t.match(
        describeChain({ code }, 'a.test', 0),
        { reachable, certificates: [], trusted: false, error: /\.$/ },
        code,
      );
  },
);
