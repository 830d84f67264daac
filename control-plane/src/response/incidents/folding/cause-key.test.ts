import t from 'tap';
import { causeKey } from './cause-key.ts';
import type { ExplainedVote } from './cause-key.ts';

const failing = (voter: number, more: Partial<ExplainedVote> = {}): ExplainedVote => ({
  voter,
  vote: 'DOWN',
  code: 'connect_refused',
  phase: 'connect',
  evidence: { address: '192.0.2.1' },
  ...more,
});
const fine = (voter: number): ExplainedVote => ({ voter, vote: 'UP', code: undefined, phase: null, evidence: null });

void t.test(
  'connect errors go by address, TLS errors by certificate, faults of name servers by name server',
  async (t) => {
    t.equal(causeKey([failing(1), failing(2)]), 'address:192.0.2.1');
    t.equal(
      causeKey([failing(1, { vote: 'TIMEOUT', code: 'connect_timeout' }), failing(2), fine(3)]),
      'address:192.0.2.1',
    );
    const expired = {
      code: 'tls_expired',
      phase: 'tls',
      evidence: { address: '192.0.2.1', certificate: { fingerprint_sha256: 'ab' } },
    } as const;
    t.equal(causeKey([failing(1, expired)]), 'certificate:ab');
    const silent = { code: 'dns_timeout', phase: 'dns', evidence: { address: '192.0.2.53' } } as const;
    t.equal(causeKey([failing(1, silent)]), 'name_server:192.0.2.53');
    t.equal(
      causeKey([failing(1, { ...silent, code: 'dns_nxdomain' })]),
      null,
      'a name that does not exist is its own cause',
    );
    t.equal(causeKey([failing(1, { code: 'ping_no_reply', phase: 'answer' })]), 'address:192.0.2.1');
    t.equal(causeKey([failing(1, { code: 'http_status', phase: 'answer' })]), null);
    t.equal(causeKey([]), null);
    t.equal(causeKey([fine(1)]), null);
  },
);

void t.test('a probe is the cause only when its own votes explain the outage', async (t) => {
  t.equal(causeKey([failing(7), fine(8), fine(9)]), 'probe:7');
  t.equal(causeKey([failing(7)]), 'address:192.0.2.1', 'nobody contradicts it');
});

void t.test('what most failing probes name counts, in whatever order they stand', async (t) => {
  const other = { evidence: { address: '192.0.2.2' } };
  const votes = [failing(1, other), failing(2), failing(3)];
  t.equal(causeKey(votes), 'address:192.0.2.1');
  t.equal(causeKey(votes.toReversed()), 'address:192.0.2.1');
  const tie = [failing(1, other), failing(2)];
  t.equal(causeKey(tie), causeKey(tie.toReversed()));
});

void t.test('addresses that are another host for each probe, and hostile evidence, say nothing', async (t) => {
  for (const address of [
    '127.0.0.1',
    '127.8.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '169.254.1.1',
    'fe80::1',
    '',
    7,
    null,
    'x'.repeat(201),
  ]) {
    t.equal(causeKey([failing(1, { evidence: { address } })]), null, JSON.stringify(address));
  }
  for (const evidence of [undefined, null, 'x', [], { certificate: 'x' }]) {
    t.equal(causeKey([failing(1, { evidence })]), null);
    t.equal(causeKey([failing(1, { phase: 'tls', code: 'tls_expired', evidence })]), null);
  }
});
