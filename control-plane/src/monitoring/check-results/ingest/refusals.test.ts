import { createEd25519Pair, signEd25519 } from '@parallax/pki';
import { encodeSigned, signedContent } from '@parallax/wire';
import t from 'tap';
import { admit } from './admit.ts';
import type { AdmitOptions, KnownMonitor } from './admit.ts';
import { digestOf, lostMessage, message, result } from './testing/fixture.ts';

/* What is said of a refused message: it is all that an operator ever sees of it. */

const key = createEd25519Pair();
const probe = { id: 3, region: 'r', seed: key.seed };
const receivedUs = 1_772_323_200_000_000;
const hourUs = 3_600_000_000;
const assigned: KnownMonitor = { isDeleted: false, probes: new Set([3]) };
const monitors = new Map<number, KnownMonitor>([[1, assigned]]);
const knowledge = { probes: new Map([[3, { publicKey: key.publicKey, isRevoked: false }]]), monitors };
const options: AdmitOptions = { shard: 0, knowledge, receivedUs, isFresh: true };
const subject = 'results.3.0';
const at = { epoch: 9, shard: 0, firstSeq: 11 };
const good = message(probe, at, [result(1, receivedUs - 1_000)]);

t.test('a refusal says why, of whom and of which message', async (t) => {
  const refused = (data: Uint8Array, changed: Partial<AdmitOptions> = {}, from = subject) =>
    admit({ subject: from, data }, { ...options, ...changed });
  const poison = { type: 'poison', probeId: 3, digest: Buffer.from(digestOf(good), 'hex'), place: undefined };
  t.same(refused(good, { knowledge: { ...knowledge, probes: new Map() } }), {
    ...poison,
    reason: 'unknown_probe',
    detail: 'probe 3',
  });
  const revoked = new Map([[3, { publicKey: key.publicKey, isRevoked: true }]]);
  t.same(refused(good, { knowledge: { ...knowledge, probes: revoked } }), {
    ...poison,
    reason: 'revoked_probe',
    detail: 'probe 3',
  });
  const stranger = new Map([[3, { publicKey: createEd25519Pair().publicKey, isRevoked: false }]]);
  t.same(refused(good, { knowledge: { ...knowledge, probes: stranger } }), {
    ...poison,
    reason: 'bad_signature',
    detail: 'probe 3',
  });
  t.same(refused(good, { shard: 1 }, 'results.3.1'), { ...poison, reason: 'other_shard', detail: 'shard 0' });
  t.match(refused(new Uint8Array([1, 2, 3])), { reason: 'not_signed', detail: /\w/, probeId: 3 });
  const garbage = Uint8Array.of(0xff, 0xff, 0xff);
  t.match(refused(encodeSigned(garbage, signEd25519(key.seed, signedContent(garbage)))), {
    type: 'poison',
    reason: 'malformed',
    detail: /\w/,
    place: undefined,
  });
  t.match(refused(message(probe, { ...at, epoch: 2 ** 53 }, [result(1, receivedUs)])), {
    reason: 'malformed',
    detail: 'epoch or sequence out of range',
  });
  for (const firstSeq of [2 ** 53, 2 ** 54]) {
    t.match(refused(message(probe, { ...at, firstSeq }, [result(1, receivedUs)])), { reason: 'malformed' });
  }
  t.match(refused(message(probe, at, [result(1, receivedUs)], 4)), {
    reason: 'other_probe',
    detail: 'probe 3 as 4',
    probeId: 3,
    place: undefined,
  });
});

t.test('a subject that nobody can have is cut to 200 characters, and its probe is not known', async (t) => {
  t.match(admit({ subject: `results.${'9'.repeat(300)}.0`, data: good }, options), {
    reason: 'bad_subject',
    detail: /^results\.9{192}$/,
  });
  const nobody = admit({ subject: 'nothing', data: good }, options);
  t.equal(nobody.type === 'poison' ? nobody.probeId : undefined, null);
  t.match(admit({ subject: 'results.3.1', data: good }, options), { reason: 'bad_subject', probeId: 3 });
});

t.test('at most ten monitors are named', async (t) => {
  const ids = Array.from({ length: 12 }, (_, index) => 100 + index);
  const data = message(
    probe,
    at,
    ids.map((id) => result(id, receivedUs - 1_000)),
  );
  const named = '100, 101, 102, 103, 104, 105, 106, 107, 108, 109';
  t.match(admit({ subject, data }, options), {
    reason: 'unknown_monitor',
    detail: new RegExp(`^monitors ${named} of shard 0$`),
  });
  const known = new Map(ids.map((id) => [id, { isDeleted: false, probes: new Set([4]) }]));
  t.match(admit({ subject, data }, { ...options, knowledge: { ...knowledge, monitors: known } }), {
    reason: 'never_assigned',
    detail: new RegExp(`^monitors ${named}$`),
  });
});

t.test('a record of lost results has its place and what it says', async (t) => {
  const data = lostMessage(probe, at, { toSeq: 20, fromUs: receivedUs - 9_000, toUs: receivedUs - 5_000 });
  t.match(admit({ subject, data }, options), {
    type: 'lost',
    place: { probeId: 3, epoch: 9, firstSeq: 11, lastSeq: 20 },
    lost: { fromUs: receivedUs - 9_000, toUs: receivedUs - 5_000 },
  });
});

t.test('strangers are left out for 72 h after a restore, and refused from then on', async (t) => {
  const data = message(probe, at, [result(77, receivedUs - 1_000)]);
  const restored = (agoUs: number) => ({ ...options, knowledge: { ...knowledge, restoredUs: receivedUs - agoUs } });
  t.match(admit({ subject, data }, restored(72 * hourUs - 1)), { type: 'results', leftOut: { deleted: 1 } });
  t.match(admit({ subject, data }, restored(72 * hourUs)), { type: 'poison', reason: 'unknown_monitor' });
});
