import type pg from 'pg';
import { openTransaction } from '../../../platform/database/open-transaction.ts';
import { enqueueText, enqueueValues } from '../../../platform/outbox/enqueue.ts';
import { listingsSeen, seenFacts, writeExpiries } from '../../lasting-facts/index.ts';
import { atMicroseconds, writeRangeEdits } from '../../status-ranges/index.ts';
import { cleanEvidence, cleanMessage } from './clean-evidence.ts';
import { copyText } from './copy-buffer.ts';
import type { Changes, CursorMove, Intake } from './round.ts';
import type { IngestRow } from './rows.ts';
import { microseconds } from './windows/queries.ts';

/** Under which right a round is written. */
export type Ownership = { readonly shard: number; readonly owner: string; readonly term: number };

/** Another process owns the shard now, or a cursor is not where memory has it: nothing was written. */
export class OwnershipLostError extends Error {
  override readonly name = 'OwnershipLostError';
}

export type RoundToWrite = {
  readonly intake: Pick<Intake, 'rows' | 'moves' | 'lost' | 'rejected'>;
  readonly changes: Changes;
  /** Everything up to here is folded; undefined leaves the shard's mark where it is. */
  readonly foldedUntilUs: number | undefined;
};

// One statement: the fence and the cursors. What a stale owner or a stale memory would write is refused by the counts. The row that the
// fence locks also says which hours are closed: none is closed between this statement and the commit.
const fenceText = `
  with fence as (
    update shards set renewed_at = clock_timestamp(),
      folded_until = greatest(folded_until, ${atMicroseconds('$4::bigint')})
    where shard = $1 and owner = $2 and term = $3 returning ${microseconds('closed_until')} as closed_us),
  move as (
    select * from unnest($5::integer[], $6::bigint[], $7::bigint[], $8::bigint[]) as m (probe_id, epoch, before, after)),
  moved as (
    update cursors c set seq = move.after, updated_at = now() from move
    where c.probe_id = move.probe_id and c.epoch = move.epoch and c.shard = $1 and c.seq = move.before and move.before > 0
    returning 1),
  added as (
    insert into cursors (probe_id, epoch, shard, seq)
    select probe_id, epoch, $1, after from move where before = 0
    returning 1)
  select (select count(*) from fence)::integer as fenced, (select closed_us from fence) as closed_us,
    ((select count(*) from moved) + (select count(*) from added))::integer as moved`;

type FenceRow = { readonly fenced: number; readonly moved: number; readonly closed_us: string | null };

/**
 * Writes a round in one transaction: the fence, the cursors, the results, and what they changed. Resolves only when the commit is
 * known to have happened; after any error the fate is unknown and memory must be read anew.
 * @throws OwnershipLostError when another owner has taken the shard, or a cursor has moved
 */
export async function writeRound(
  client: pg.ClientBase,
  ownership: Ownership,
  round: RoundToWrite,
  encode: (rows: readonly IngestRow[]) => Buffer,
): Promise<void> {
  const moves = [...round.intake.moves.values()].sort((a, b) => a.probeId - b.probeId || a.epoch - b.epoch);
  if (isOnlyFence(round)) {
    await fence(client, ownership, round.foldedUntilUs, moves);
    return;
  }
  try {
    const closedUntilUs = await open(client, ownership, round, moves, encode);
    await noteStaleHours(client, round.intake.rows, closedUntilUs);
    await writeEvidence(client, round.intake.rows);
    const seen = seenFacts(round.intake.rows);
    await writeExpiries(client, seen);
    await writeLost(client, ownership.shard, round.intake.lost);
    await writeRejections(client, round.intake.rejected);
    await writeRangeEdits(client, round.changes.edits);
    await writeStatuses(client, round.changes.statuses);
    await writeRefolded(client, round.changes.refolded ?? []);
    const outbox = [...round.changes.outbox, ...listingsSeen(seen)];
    if (outbox.length > 0) await client.query(enqueueText, enqueueValues(outbox));
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
  await client.query('commit');
}

/** True when a round has nothing to write but that its owner lives. */
export function isOnlyFence({ intake, changes }: Pick<RoundToWrite, 'intake' | 'changes'>): boolean {
  return (
    intake.moves.size +
      intake.rows.length +
      intake.rejected.length +
      changes.edits.length +
      changes.statuses.length +
      changes.outbox.length +
      (changes.refolded?.length ?? 0) ===
    0
  );
}

/** Begins the transaction with the fence and the results. */
async function open(
  client: pg.ClientBase,
  ownership: Ownership,
  { intake: { rows }, foldedUntilUs }: RoundToWrite,
  moves: readonly CursorMove[],
  encode: (rows: readonly IngestRow[]) => Buffer,
): Promise<number> {
  const [fenced = null, closedUs = null, moved = null] = await openTransaction(client, {
    statement: { name: 'ingest-open', text: fenceText, values: fenceValues(ownership, foldedUntilUs, moves) },
    copy: rows.length === 0 ? undefined : { text: copyText, data: encode(rows) },
  });
  return closedUntil(ownership, moves, { fenced: Number(fenced), moved: Number(moved), closed_us: closedUs });
}

async function fence(
  client: pg.ClientBase,
  ownership: Ownership,
  foldedUntilUs: number | undefined,
  moves: readonly CursorMove[],
): Promise<void> {
  const { rows } = await client.query<FenceRow>({
    name: 'ingest-fence',
    text: fenceText,
    values: [...fenceValues(ownership, foldedUntilUs, moves)],
  });
  closedUntil(ownership, moves, rows[0]);
}

function fenceValues(
  { shard, owner, term }: Ownership,
  foldedUntilUs: number | undefined,
  moves: readonly CursorMove[],
): readonly (string | null)[] {
  const list = (numbers: readonly number[]): string => `{${numbers.join()}}`;
  return [
    String(shard),
    owner,
    String(term),
    foldedUntilUs === undefined ? null : String(foldedUntilUs),
    list(moves.map((move) => move.probeId)),
    list(moves.map((move) => move.epoch)),
    list(moves.map((move) => move.from)),
    list(moves.map((move) => move.to)),
  ];
}

/** @returns before when hours are closed, in microseconds; minus infinity when none is */
function closedUntil({ shard, term }: Ownership, moves: readonly CursorMove[], row: FenceRow | undefined): number {
  if (row?.fenced !== 1)
    throw new OwnershipLostError(`shard ${shard} is owned by another process: term ${term} is over`);
  if (row.moved !== moves.length) {
    throw new OwnershipLostError(
      `shard ${shard}: ${moves.length - row.moved} of ${moves.length} cursors are not where memory has them`,
    );
  }
  return row.closed_us === null ? Number.NEGATIVE_INFINITY : Number(row.closed_us);
}

const hourUs = 3_600_000_000;

/**
 * What was packed of closed hours is out of date with these rows. A note that is there already is locked, though not changed: who packs its
 * hour before these rows are committed would not see them, and must leave the note. Rows of days that are not kept as rows any more would be lost unseen: they
 * waited here for more than an hour, so the round is given up, and when it is made again they are too old.
 */
async function noteStaleHours(client: pg.ClientBase, rows: readonly IngestRow[], closedUntilUs: number): Promise<void> {
  const late = rows.filter((row) => row.eUs < closedUntilUs);
  if (late.length === 0) return;
  const oldestUs = late.reduce((oldest, row) => Math.min(oldest, row.eUs), Number.POSITIVE_INFINITY);
  const answer = await client.query<{ is_packed: boolean }>(
    `with noted as (
       insert into stale_hours (monitor_id, hour)
       select distinct monitor_id, hour from unnest($1::integer[], $2::integer[]) as late (monitor_id, hour) order by 1, 2
       on conflict (monitor_id, hour) do update set noted_at = excluded.noted_at where false)
     select hot_from > ${atMicroseconds('$3::bigint')} as is_packed from result_storage`,
    [late.map((row) => row.monitorId), late.map((row) => Math.floor(row.eUs / hourUs)), oldestUs],
  );
  if (answer.rows[0]?.is_packed === true) {
    throw new Error(`results from ${new Date(oldestUs / 1_000).toISOString()} on came too late to be stored`);
  }
}

async function writeEvidence(client: pg.ClientBase, rows: readonly IngestRow[]): Promise<void> {
  // A good result brings only facts that last, which have their own place.
  const told = rows.filter((row) => row.evidence !== undefined && row.outcome !== 'ok' && row.outcome !== 'slow');
  if (told.length === 0) return;
  await client.query(
    `insert into result_evidence (e, monitor_id, probe_id, message, evidence)
     select ${atMicroseconds('e_us')}, monitor_id, probe_id, message, evidence::jsonb
     from unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[], $5::text[]) as told (e_us, monitor_id, probe_id, message, evidence)`,
    [
      told.map((row) => row.eUs),
      told.map((row) => row.monitorId),
      told.map((row) => row.voter),
      told.map((row) => cleanMessage(row.evidence?.message ?? '')),
      told.map((row) => cleanEvidence(row.evidence?.json ?? '{}')),
    ],
  );
}

async function writeLost(client: pg.ClientBase, shard: number, lost: Intake['lost']): Promise<void> {
  if (lost.length === 0) return;
  await client.query(
    `insert into lost_results (probe_id, epoch, shard, from_seq, to_seq, from_at, to_at)
     select probe_id, epoch, $1, from_seq, to_seq, ${atMicroseconds('from_us')}, ${atMicroseconds('to_us')}
     from unnest($2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
       as lost (probe_id, epoch, from_seq, to_seq, from_us, to_us)`,
    [
      shard,
      lost.map((item) => item.place.probeId),
      lost.map((item) => item.place.epoch),
      lost.map((item) => item.place.firstSeq),
      lost.map((item) => item.place.lastSeq),
      lost.map((item) => item.lost.fromUs),
      lost.map((item) => item.lost.toUs),
    ],
  );
}

async function writeRejections(client: pg.ClientBase, rejected: Intake['rejected']): Promise<void> {
  for (const { subject, probeId, reason, detail, digest } of rejected) {
    await client.query({
      name: 'ingest-rejection',
      text: 'insert into rejected_batches (subject, probe_id, reason, detail, digest) values ($1, $2, $3, $4, $5)',
      values: [cleanMessage(subject), probeId, reason, cleanMessage(detail), digest],
    });
  }
}

async function writeStatuses(client: pg.ClientBase, statuses: Changes['statuses']): Promise<void> {
  if (statuses.length === 0) return;
  // In the order of their numbers, like everybody who locks several monitors. A status of before a reset that this round does not know of
  // yet is void.
  const sorted = [...statuses].sort((a, b) => a.monitorId - b.monitorId);
  await client.query(
    `update monitors m set status = changed.status, status_since = ${atMicroseconds('changed.since_us')},
       announced_status = changed.announced
     from (
       select * from unnest($1::integer[], $2::text[], $3::bigint[], $4::text[]) as c (id, status, since_us, announced) order by id
     ) changed
     where m.id = changed.id and coalesce(m.reset_at <= ${atMicroseconds('changed.since_us')}, true)`,
    [
      sorted.map((item) => item.monitorId),
      sorted.map((item) => item.status),
      sorted.map((item) => Math.round(item.sinceUs)),
      sorted.map((item) => item.announced),
    ],
  );
}

/** One that was asked for since, from another time on, stays. */
async function writeRefolded(client: pg.ClientBase, refolded: NonNullable<Changes['refolded']>): Promise<void> {
  if (refolded.length === 0) return;
  await client.query(
    `update monitors m set refold_from = null from unnest($1::integer[], $2::bigint[]) as done (id, from_us)
     where m.id = done.id and m.refold_from = ${atMicroseconds('done.from_us')}`,
    [refolded.map((item) => item.monitorId), refolded.map((item) => item.fromUs)],
  );
}
