import { randomBytes } from 'node:crypto';
import t from 'tap';
import { allowList } from './allow-list.ts';
import { asCidr, addressGroup, cleanAddresses, isGlobalAddress, peerAddress } from './peer-address.ts';
import { formatJoinToken, judgeJoinToken, makeJoinSecret, parsePresentedToken } from './join-token.ts';
import { judgeRenewal } from './enrolment/renewal-rules.ts';
import { AssignmentFeed } from './sessions/assignment-feed.ts';
import { Outbound } from './sessions/outbound.ts';
import type { SessionCall } from './sessions/outbound.ts';
import { PendingChecks, readAnswer } from './sessions/pending-checks.ts';
import { createSlots } from './sessions/slots.ts';
import { KeyedBuckets, TokenBucket } from './token-bucket.ts';

t.test(
  'a join token holds its row, a secret of 256 bits and the fingerprint, and is read without the last',
  async (t) => {
    const { secret, hash } = makeJoinSecret(randomBytes);
    const text = formatJoinToken(7, secret, 'ab'.repeat(32));
    const presented = text.split('.').slice(0, 2).join('.');
    t.same(parsePresentedToken(presented), { id: 7, secret: Buffer.from(secret) });
    t.equal(secret.length, 32);
    t.notMatch(text, hash.toString('hex'));
    for (const wrong of [
      '',
      '7',
      '7.',
      text,
      `0.${presented.slice(2)}`,
      `07.${presented.slice(2)}`,
      `${presented}A`,
      `99999999999.${presented.slice(2)}`,
      presented.slice(0, -1),
    ]) {
      t.equal(parsePresentedToken(wrong), undefined, wrong);
    }
  },
);

t.test('a join token is judged by its secret first, then by use and age', async (t) => {
  const { secret, hash } = makeJoinSecret(randomBytes);
  const key = randomBytes(32);
  const unused = { secretHash: hash, expiresAtMs: 1_000, usedAtMs: null, usedByKey: null };
  const used = { ...unused, usedAtMs: 500, usedByKey: key };
  t.equal(judgeJoinToken(unused, secret, key, 999), 'fresh');
  t.equal(judgeJoinToken(unused, secret, key, 1_000), 'expired');
  t.equal(judgeJoinToken(used, secret, key, 999), 'repeated');
  t.equal(judgeJoinToken(used, secret, key, 1_000), 'used', 'the same answer only within its life');
  t.equal(judgeJoinToken(used, secret, randomBytes(32), 999), 'used');
  t.equal(judgeJoinToken(used, randomBytes(32), key, 999), 'unknown', 'who has no secret learns nothing of its use');
  t.equal(judgeJoinToken(undefined, secret, key, 1), 'unknown');
});

t.test('a renewal is judged in order: whose it is, proof, clock, revocation, age', async (t) => {
  const dayMs = 86_400_000;
  const good = { nowMs: 0, notAfterMs: 1, issuedAtMs: 0, isOurs: true, isProven: true, isKnown: true };
  t.equal(judgeRenewal(good), 'accepted');
  t.equal(judgeRenewal({ ...good, nowMs: 30 * dayMs, issuedAtMs: 30 * dayMs }), 'accepted', 'expired for 30 days');
  t.equal(judgeRenewal({ ...good, nowMs: 30 * dayMs + 2, issuedAtMs: 30 * dayMs }), 'too_late');
  t.equal(judgeRenewal({ ...good, issuedAtMs: 600_001 }), 'clock');
  t.equal(judgeRenewal({ ...good, issuedAtMs: -600_001 }), 'clock');
  t.equal(judgeRenewal({ ...good, isProven: false, issuedAtMs: 600_001 }), 'unproven');
  t.equal(judgeRenewal({ ...good, isKnown: false }), 'revoked');
  t.equal(judgeRenewal({ ...good, isOurs: false, isProven: false, isKnown: false }), 'foreign');
});

t.test('a rate lets a burst through and then so many a second, for each key, and forgets the oldest key', async (t) => {
  const bucket = new TokenBucket({ burst: 2, perSecond: 1 }, 0);
  t.same(
    [bucket.take(0), bucket.take(0), bucket.take(0), bucket.take(999), bucket.take(1_999), bucket.take(1_999)],
    [true, true, false, false, true, false],
  );
  const buckets = new KeyedBuckets({ burst: 1, perSecond: 0 }, 2);
  t.same(
    ['a', 'a', 'b', 'c', 'b', 'a'].map((key) => buckets.take(key, 0)),
    [true, false, true, true, false, true],
  );
});

t.test('addresses are read, grouped and told apart', async (t) => {
  t.equal(peerAddress('192.0.2.1:443'), '192.0.2.1');
  t.equal(peerAddress('[2001:db8::1]:443'), '2001:db8::1');
  t.equal(peerAddress('ipv6:[::ffff:192.0.2.1]:443'), '192.0.2.1');
  t.equal(peerAddress('unix:/x'), undefined);
  t.equal(addressGroup('2001:db8:1:2:3::4'), '2001:db8:1:2::/64');
  t.equal(addressGroup('2001:db8:1:2:9::'), '2001:db8:1:2::/64');
  t.equal(addressGroup('192.0.2.1'), '192.0.2.1');
  t.same(cleanAddresses(['192.0.2.1', 'x', '192.0.2.1', '2001:DB8::0:1']), ['192.0.2.1', '2001:db8::1']);
  t.same([asCidr('192.0.2.1'), asCidr('2001:db8::1')], ['192.0.2.1/32', '2001:db8::1/128']);
  t.same(['8.8.8.8', '10.0.0.1', '127.0.0.1', '169.254.1.1', '2606:4700::1', 'fe80::1'].map(isGlobalAddress), [
    true,
    false,
    false,
    false,
    true,
    false,
  ]);
});

t.test('what a customer must allow is told of every machine, and of each family what reaches the Internet', (t) => {
  const source = (routed: string[], seen: string | null = null, stated: string[] = []) => ({ stated, routed, seen });
  const cases: [string, ReturnType<typeof source>[], string[]][] = [
    ['nothing is known', [], []],
    ['everything on one machine', [source(['192.168.1.5'], '127.0.0.1')], ['192.168.1.5']],
    ['without a network', [source(['127.0.0.1'], '127.0.0.1')], ['127.0.0.1']],
    ['loopback beside another machine', [source(['127.0.0.1']), source(['10.0.0.7'])], ['10.0.0.7']],
    ['behind NAT, as the session shows', [source(['192.168.1.5'], '8.8.4.4')], ['8.8.4.4']],
    [
      'both families, one of them behind NAT',
      [source(['192.168.1.5', '2606:4700::5'], '8.8.4.4')],
      ['2606:4700::5', '8.8.4.4'],
    ],
    [
      'a family that only the kernel knows of',
      [source(['192.168.1.5', '2606:4700::5'], '2606:4700::5')],
      ['192.168.1.5', '2606:4700::5'],
    ],
    [
      'as the operator states it',
      [source(['8.8.8.8'], '10.9.9.9', ['10.0.0.1', '198.51.100.7'])],
      ['10.0.0.1', '198.51.100.7'],
    ],
    ['what only a link knows', [source(['fe80::1', '10.0.0.7'])], ['10.0.0.7']],
    ['no address', [source(['x', ''])], []],
  ];
  for (const [name, sources, expected] of cases) t.same(allowList(sources), expected, name);
  t.end();
});

t.test('a request to a probe ends with its answer, its refusal, its deadline or the session', async (t) => {
  const pending = new PendingChecks();
  const ids: string[] = [];
  const ask = (deadlineMs: number) => pending.ask(deadlineMs, readAnswer, async (id) => void ids.push(id));
  const reply = (requestId: string, more: { refused?: string; outcome?: unknown }) =>
    pending.answer({
      requestId,
      effectiveUs: 5n,
      outcomeJson: Buffer.from(JSON.stringify(more.outcome ?? {})),
      diagnosisJson: Buffer.alloc(0),
      chainJson: Buffer.alloc(0),
      trace: [],
      refused: more.refused ?? '',
    });
  const outcome = { outcome: 'ok', total: 12, phases: { dns: 3 } };
  const good = ask(10_000);
  reply('unknown', { outcome });
  reply(ids[0] ?? '', { outcome });
  t.same(await good, { answer: { effective_us: 5, outcome, trace: [] } });
  const refused = ask(10_000);
  reply(ids[1] ?? '', { refused: 'overload' });
  t.same(await refused, { refused: 'overload' });
  const odd = ask(10_000);
  reply(ids[2] ?? '', { outcome: { outcome: 'splendid' } });
  t.match(await odd, { refused: /cannot be read/ });
  t.match(await ask(1), { refused: /in time/ });
  const last = ask(10_000);
  t.notOk(pending.isIdle);
  const idle = pending.idle();
  pending.refuseAll('gone');
  t.same(await last, { refused: 'gone' });
  await idle;
  t.ok(pending.isIdle);
  await pending.idle();
});

t.test('slots bound how much runs at once and let everybody through', async (t) => {
  const withSlot = createSlots(2);
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 9 }, () =>
      withSlot(async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
      }),
    ),
  );
  t.equal(most, 2);
  await t.rejects(withSlot(() => Promise.reject(new Error('x'))));
  t.equal(await withSlot(async () => 1), 1);
});

t.test(
  'an agent is behind when the database is ahead, and when it was ahead of the database before that was asked',
  async (t) => {
    const nobody = undefined as unknown as SessionCall;
    const feed = (knownRevision: bigint) =>
      new AssignmentFeed({
        source: {
          snapshot: () => Promise.reject(new Error('not asked')),
          deltasSince: () => Promise.reject(new Error('not asked')),
        },
        outbound: new Outbound(nobody, () => undefined),
        knownRevision,
        privateTargetsBasis: '1:',
      });
    t.ok(feed(10n).isBehind(11n, 10n));
    t.notOk(feed(10n).isBehind(10n, 10n));
    t.notOk(feed(11n).isBehind(10n, 10n), 'what was sent after the question does not count');
    t.ok(feed(11n).isBehind(10n, 11n), 'a database that was restored');
    t.ok(feed(0n).isBehind(0n, 0n), 'an agent that knows nothing');
  },
);
