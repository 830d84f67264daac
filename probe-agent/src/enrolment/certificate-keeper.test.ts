import { createAuthority, createSigningRequest, openAuthority } from '@parallax/pki';
import t from 'tap';
import { silentLogger } from '../ports.ts';
import type { Identity } from '../state/identity.ts';
import { EnrolmentError } from './enrolment-error.ts';
import { CertificateKeeper } from './certificate-keeper.ts';
import { ProbeRefused } from './probe-refused.ts';
import { certificateState, certificateTimes } from './renewal-time.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const startMs = Date.now();
const authority = await openAuthority(await createAuthority(startMs));
const { keyPem, csrDer } = await createSigningRequest();
const issue = async (nowMs: number): Promise<Uint8Array> =>
  (await authority.issueProbeCertificate(7, csrDer, nowMs)).certificateDer;

/** A keeper whose time, control plane and disk the test holds. */
async function keeping(wallAheadMs = 0) {
  const world = {
    trueMs: startMs,
    isAway: false,
    isRevoked: false,
    isSynchronised: true,
    asked: [] as number[],
    kept: 0,
    refused: 0,
  };
  const identity = { keyPem, certificateDer: await issue(startMs) } as Identity;
  const keeper = new CertificateKeeper({
    identity,
    nowMs: () => world.trueMs + (world.isSynchronised ? 0 : wallAheadMs),
    isSynchronised: () => world.isSynchronised,
    monotonicMs: () => world.trueMs - startMs,
    random: () => 0.5,
    renew: async (held) => {
      world.asked.push(world.trueMs);
      if (world.isAway) throw new EnrolmentError('cannot be reached', { isTemporary: true });
      if (world.isRevoked) throw new ProbeRefused('revoked');
      return { ...held, certificateDer: await issue(world.trueMs) };
    },
    keep: async () => void (world.kept += 1),
    onRefused: () => void (world.refused += 1),
    logger: silentLogger,
  });
  return {
    keeper,
    world,
    /** So much time, a look in every minute. */
    pass: async (ms: number, each: () => void = () => {}) => {
      for (const untilMs = world.trueMs + ms; world.trueMs < untilMs; world.trueMs += minuteMs) {
        keeper.tick();
        await keeper.settled;
        each();
      }
    },
  };
}

t.test(
  'certificates of probes that were registered together are renewed after a day, spread over six hours',
  async (t) => {
    const dues = await Promise.all(
      Array.from({ length: 60 }, async () => certificateTimes(await issue(startMs)).dueMs - startMs - dayMs),
    );
    // Dates of certificates are whole seconds.
    t.ok(Math.min(...dues) > -2_000 && Math.max(...dues) < 6 * hourMs);
    const perPart = [0, 1, 2].map((part) => dues.filter((due) => Math.floor(due / (2 * hourMs)) === part).length);
    t.ok(Math.min(...perPart) > 3, `of 60 in each two hours: ${perPart.join(', ')}`);
    const one = await issue(startMs);
    t.equal(certificateTimes(one).dueMs, certificateTimes(one).dueMs, 'the same at every start');
  },
);

t.test(
  'forty days, twelve of them with the control plane away: always a valid certificate, renewed about daily',
  async (t) => {
    const { keeper, world, pass } = await keeping();
    let judged = keeper.identity.certificateDer;
    let { endsMs } = certificateTimes(judged);
    const isValid = (): void => {
      if (judged !== keeper.identity.certificateDer) {
        judged = keeper.identity.certificateDer;
        ({ endsMs } = certificateTimes(judged));
      }
      if (world.trueMs >= endsMs) t.fail('it has run out');
    };
    await pass(14 * dayMs, isValid);
    t.ok(world.kept >= 11 && world.kept <= 14, `${world.kept} in 14 days`);
    world.isAway = true;
    const before = world.asked.length;
    await pass(12 * dayMs, isValid);
    const tries = world.asked.length - before;
    t.ok(tries > 200 && tries < 500, `${tries} tries in 12 days: about one in an hour`);
    const waits = world.asked.slice(before + 1).map((at, index) => at - (world.asked[before + index] ?? 0));
    t.ok((waits[0] ?? 0) <= 2 * minuteMs && Math.max(...waits) <= hourMs + minuteMs, 'soon at first');
    world.isAway = false;
    keeper.reachable();
    const kept = world.kept;
    await pass(2 * minuteMs, isValid);
    t.equal(world.kept, kept + 1, 'and soon when it is back');
    await pass(14 * dayMs, isValid);
    t.ok(world.kept >= 23 && world.kept <= 30);
  },
);

t.test('a session stays on its certificate until a quiet moment, an hour at the most', async (t) => {
  const { keeper, world, pass } = await keeping();
  await keeper.forSession(0, false);
  t.notOk(keeper.wantsReconnect(true));
  const wishes = { quietMs: 0, busyMs: 0 };
  await pass(32 * hourMs, () => {
    if (wishes.quietMs === 0 && keeper.wantsReconnect(true)) wishes.quietMs = world.trueMs;
    if (wishes.busyMs === 0 && keeper.wantsReconnect(false)) wishes.busyMs = world.trueMs;
  });
  t.equal(wishes.quietMs, world.asked[0], 'at once when nothing is under way');
  t.equal(wishes.busyMs - wishes.quietMs, hourMs);
  t.equal((await keeper.forSession(0, false)).certificateDer, keeper.identity.certificateDer);
  t.notOk(keeper.wantsReconnect(true), 'once');
});

t.test(
  'one that has run out is renewed before the next session; when that fails the server is asked all the same',
  async (t) => {
    const { keeper, world } = await keeping();
    world.trueMs += 31 * dayMs;
    world.isAway = true;
    t.ok(await keeper.forSession(0, false));
    t.equal(world.asked.length, 1);
    await keeper.forSession(1, false);
    t.equal(world.asked.length, 1, 'not at every try');
    world.isAway = false;
    world.trueMs += 2 * minuteMs;
    await keeper.forSession(2, false);
    t.equal(certificateState(keeper.identity.certificateDer, world.trueMs), 'good');
  },
);

t.test('a wall clock that is two years off costs one renewal and no session', async (t) => {
  for (const offMs of [2 * 365 * dayMs, -2 * 365 * dayMs]) {
    const { keeper, world } = await keeping(offMs);
    world.isSynchronised = false;
    for (let attempt = 0; attempt < 19; attempt += 1) {
      await keeper.forSession(attempt, false);
      world.trueMs += 15_000;
    }
    t.ok(world.asked.length <= 1, 'the certificate that was made told the time');
    world.isSynchronised = true;
    keeper.tick();
    t.ok(world.asked.length <= 1);
  }
});

t.test('a refused session asks for a certificate, and one that is refused for good says so', async (t) => {
  const { keeper, world, pass } = await keeping();
  await keeper.forSession(0, true);
  t.equal(world.kept, 1, 'a certificate that a restored control plane did not know');
  world.isRevoked = true;
  await pass(30 * hourMs);
  t.equal(world.refused, 0, 'a standing session says more than a refused renewal');
  world.trueMs += 2 * hourMs;
  await keeper.forSession(1, true);
  t.equal(world.refused, 1);
});

t.test('a refusal soon after a session stood is asked about at once', async (t) => {
  const { keeper, world } = await keeping();
  keeper.reachable();
  world.isRevoked = true;
  await keeper.forSession(0, true);
  t.equal(world.refused, 1, 'the spread is for renewals in the background');
  await keeper.forSession(1, true);
  t.equal(world.asked.length, 1, 'then with pauses');
});
