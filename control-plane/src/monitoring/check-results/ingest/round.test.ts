import t from 'tap';
import type { Fetched } from './fetch.ts';
import { intake } from './round.ts';
import type { Judged } from './round.ts';
import type { IngestRow, Place } from './rows.ts';
import { cursorKey } from './trim.ts';
import type { Cursors } from './trim.ts';

const receivedUs = 1_772_323_200_000_000;
const nothingLeftOut = { tooOld: 0, inFuture: 0, deleted: 0, beforeReset: 0 };

const messageOf = (subject: string): Fetched => ({ subject, data: Buffer.from(subject), settle: () => {} });
const placeOf = (firstSeq: number, lastSeq: number, probeId = 3): Place => ({ probeId, epoch: 9, firstSeq, lastSeq });

const rowOf = (eUs: number): IngestRow => ({
  eUs,
  voter: 3,
  kind: 'scheduled',
  outcome: 'ok',
  error: 0,
  freshS: 160,
  probeRevision: 1,
  receivedUs,
  monitorId: 1,
  flags: 0,
  totalUs: 23_000,
  dnsUs: undefined,
  connectUs: undefined,
  tlsUs: undefined,
  firstByteUs: undefined,
  transferUs: undefined,
  evidence: undefined,
});

/** A batch whose rows are dated by their sequence numbers. */
function batch(place: Place, leftOut: Partial<typeof nothingLeftOut> = {}, missing: readonly number[] = []): Judged {
  const rows = Array.from({ length: place.lastSeq - place.firstSeq + 1 }, (_, index) => {
    const seq = place.firstSeq + index;
    return missing.includes(seq) ? undefined : rowOf(seq);
  });
  return {
    message: messageOf(`batch ${place.firstSeq}`),
    admitted: { type: 'results', place, rows, leftOut: { ...nothingLeftOut, ...leftOut } },
  };
}

const poison = (place: Place | undefined, subject = 'poison'): Judged => ({
  message: messageOf(subject),
  admitted: { type: 'poison', reason: 'malformed', detail: 'why', probeId: 3, digest: Buffer.from('own'), place },
});

const digest = (data: Uint8Array): Buffer => Buffer.concat([Buffer.from('of '), data]);
const cursorsAt = (seq: number): Cursors => new Map([[cursorKey({ probeId: 3, epoch: 9 }), seq]]);
const take = (judged: readonly Judged[], cursors: Cursors = new Map()) => intake(judged, cursors, digest);

t.test('rows are taken from the cursor on, and it moves over all of them in one step', async (t) => {
  const cursors = cursorsAt(10);
  const taken = take([batch(placeOf(8, 12)), batch(placeOf(13, 14))], cursors);
  t.same(
    taken.rows.map(({ eUs }) => eUs),
    [11, 12, 13, 14],
  );
  t.same([...taken.moves.values()], [{ probeId: 3, epoch: 9, from: 10, to: 14 }]);
  t.same([...cursors], [[cursorKey({ probeId: 3, epoch: 9 }), 14]]);
  t.same(
    taken.settled.map(({ message, verdict }) => [message.subject, verdict]),
    [
      ['batch 8', 'done'],
      ['batch 13', 'done'],
    ],
  );
  t.same(taken.rejected, []);
  t.equal(taken.unrecorded, 0);
  t.equal(taken.voided, 0);
  t.same(take([batch(placeOf(1, 1))]).moves.get(cursorKey({ probeId: 3, epoch: 9 }))?.from, 0, 'a new one is from 0');
});

t.test('of each batch that is taken the last row that is there arrived', async (t) => {
  const arrival = { probeId: 3, epoch: 9, totalUs: 23_000, receivedUs };
  t.same(take([batch(placeOf(1, 2)), batch(placeOf(3, 3))]).arrivals, [
    { ...arrival, eUs: 2 },
    { ...arrival, eUs: 3 },
  ]);
  t.same(take([batch(placeOf(1, 2), {}, [2])]).arrivals, [], 'none where the last was left out');
});

t.test('what is committed already and what does not follow is answered and not taken', async (t) => {
  const cursors = cursorsAt(10);
  const taken = take([batch(placeOf(5, 10)), batch(placeOf(12, 14)), batch(placeOf(2, 3, 4))], cursors);
  t.same(taken.duplicates, [{ probeId: 3, epoch: 9, seq: 10 }]);
  t.same(taken.resends, [
    { probeId: 3, epoch: 9, seq: 11 },
    { probeId: 4, epoch: 9, seq: 1 },
  ]);
  t.same(taken.rows, []);
  t.equal(taken.moves.size, 0);
  t.same([...cursors.values()], [10]);
  t.same(
    taken.settled.map(({ verdict }) => verdict),
    ['done', 'done', 'done'],
  );
  t.same(take([batch(placeOf(1, 0))]).duplicates, [{ probeId: 3, epoch: 9, seq: 0 }], 'of an epoch never seen');
});

t.test('a lost stretch moves the cursor and is written; what a duplicate of it says is not', async (t) => {
  const lost = { fromSeq: 1n, toSeq: 4n, fromUs: 1, toUs: 2 };
  const judged: Judged = { message: messageOf('lost'), admitted: { type: 'lost', place: placeOf(1, 4), lost } };
  const taken = take([judged, judged, batch(placeOf(5, 5))]);
  t.same(taken.lost, [{ place: placeOf(1, 4), lost }]);
  t.same(taken.duplicates, [{ probeId: 3, epoch: 9, seq: 4 }]);
  t.same(
    taken.rows.map(({ eUs }) => eUs),
    [5],
  );
  t.same([...taken.moves.values()], [{ probeId: 3, epoch: 9, from: 0, to: 5 }]);
});

t.test('a refused batch never comes again; one that its probe signed moves the cursor', async (t) => {
  const taken = take([poison(undefined, 's'.repeat(300)), poison(placeOf(1, 6)), batch(placeOf(7, 7))]);
  t.same(
    taken.settled.map(({ verdict }) => verdict),
    ['never', 'never', 'done'],
  );
  const rejection = { probeId: 3, reason: 'malformed', detail: 'why', digest: Buffer.from('own') };
  t.same(taken.rejected, [
    { ...rejection, subject: 's'.repeat(200) },
    { ...rejection, subject: 'poison' },
  ]);
  t.same([...taken.moves.values()], [{ probeId: 3, epoch: 9, from: 0, to: 7 }]);
  t.same(
    taken.rows.map(({ eUs }) => eUs),
    [7],
  );
  t.same(taken.lost, []);
});

t.test('rows that were left out for their time are recorded with the batch that they came in', async (t) => {
  const taken = take([batch(placeOf(1, 5), { tooOld: 2, inFuture: 1 }, [1, 2, 3])]);
  t.same(taken.rejected, [
    {
      subject: 'batch 1',
      probeId: 3,
      reason: 'rows_out_of_time',
      detail: '2 older than 49 h, 1 more than 60 s ahead, of 5 from 1 of epoch 9',
      digest: Buffer.from('of batch 1'),
    },
  ]);
  t.same(
    taken.rows.map(({ eUs }) => eUs),
    [4, 5],
  );
  t.equal(take([batch(placeOf(1, 2), { tooOld: 1 }, [1])]).rejected.length, 1);
  t.equal(take([batch(placeOf(1, 2), { inFuture: 1 }, [1])]).rejected.length, 1);
  t.same(take([batch(placeOf(1, 2), { deleted: 1, beforeReset: 1 }, [1, 2])]).rejected, []);
});

t.test('what a reset made void is counted over all batches', async (t) => {
  const void2 = batch(placeOf(1, 2), { beforeReset: 2 }, [1, 2]);
  const void1 = batch(placeOf(3, 3), { beforeReset: 1 }, [3]);
  t.equal(take([void2, void1]).voided, 3);
});

t.test('fifty refusals of a round are recorded, the others counted', async (t) => {
  const many = (count: number) => take(Array.from({ length: count }, () => poison(undefined)));
  t.match([many(50).rejected.length, many(50).unrecorded], [50, 0]);
  t.match([many(53).rejected.length, many(53).unrecorded], [50, 3]);
});
