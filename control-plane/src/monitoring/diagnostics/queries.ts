import { readDiagnosis } from '@parallax/checks';
import type { Diagnosis, Difference } from '@parallax/checks';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Conclusion } from './conclusion.ts';
import type { Witness } from './pair.ts';
import type { Wanted } from './wanted.ts';

/** Second opinions are asked for at once and come within seconds: what is an outage for everybody needs no diagnosis. */
const settleSeconds = 3;
/** Between two diagnoses of one monitor. */
const quietMinutes = 10;
/** Longer than two probes after one another may take. */
const leaseSeconds = 60;

/**
 * Notes a disagreement to be looked at soon, or when the last diagnosis of the monitor is old enough: it is forgotten then if it is over. It takes
 * the place of one that waits still, which has ended since. The outbox hands out one change of a monitor at a time.
 */
export async function noteWanted(transaction: Transaction, wanted: Wanted): Promise<void> {
  const { monitorId, workspaceId, sinceMs } = wanted;
  await transaction.query(sql.unsafe`
    delete from diagnoses
    where monitor_id = ${monitorId} and state = 'wanted' and (leased_until is null or leased_until < now())`);
  await transaction.query(sql.unsafe`
    insert into diagnoses (workspace_id, monitor_id, since, due_at)
    select m.workspace_id, m.id, ${sql.timestamp(new Date(sinceMs))}, greatest(
      now() + make_interval(secs => ${settleSeconds}),
      (select max(coalesce(d.made_at, now())) + make_interval(mins => ${quietMinutes}) from diagnoses d where d.monitor_id = m.id))
    from monitors m
    where m.id = ${monitorId} and m.workspace_id = ${workspaceId} and m.deleted_at is null
    on conflict (monitor_id, since) do nothing`);
}

const claimedRow = z.object({ id: z.bigint(), monitor_id: z.number(), attempts: z.number(), is_partial: z.boolean() });
/** A diagnosis that this process holds for a minute. */
export type Claimed = {
  readonly id: bigint;
  readonly monitorId: number;
  readonly attempts: number;
  /** Whether the monitor is still PARTIAL and watched. */
  readonly isPartial: boolean;
};

/** Takes up to so many diagnoses that are due and that nobody else holds. */
export async function claimDue(pool: DatabasePool, most: number): Promise<readonly Claimed[]> {
  const rows = await pool.any(sql.prepared('diagnoses-claimed', claimedRow)`
    update diagnoses d set leased_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
    from (
      select id from diagnoses
      where state = 'wanted' and due_at <= now() and (leased_until is null or leased_until < now())
      order by due_at limit ${most} for update skip locked) due, monitors m
    where d.id = due.id and m.id = d.monitor_id
    returning d.id, d.monitor_id, d.attempts,
      (m.status = 'PARTIAL' and m.is_active and m.deleted_at is null
        and not exists (select from pauses p where p.monitor_id = m.id and p.ended_at is null)) as is_partial`);
  return rows.map((row) => ({
    id: row.id,
    monitorId: row.monitor_id,
    attempts: row.attempts,
    isPartial: row.is_partial,
  }));
}

// Who lost the row, because it was given back or its lease ran out, changes nothing.
const held = (claimed: Claimed) =>
  sql.fragment`id = ${claimed.id} and state = 'wanted' and leased_until is not null and attempts = ${claimed.attempts}`;

/** Forgets a disagreement that is over. */
export async function forget(pool: DatabasePool, claimed: Claimed): Promise<void> {
  await pool.query(sql.unsafe`delete from diagnoses where ${held(claimed)}`);
}

/** Gives a diagnosis back, to be tried again after some seconds. */
export async function giveBack(pool: DatabasePool, claimed: Claimed, afterSeconds: number): Promise<void> {
  await pool.query(sql.unsafe`
    update diagnoses set leased_until = null, due_at = clock_timestamp() + make_interval(secs => ${afterSeconds})
    where ${held(claimed)}`);
}

/** Keeps what was found. */
export async function keep(
  pool: DatabasePool,
  claimed: Claimed,
  state: 'made' | 'failed',
  conclusion: Conclusion,
): Promise<void> {
  const { failing, passing, differences, summary } = conclusion;
  await pool.query(sql.unsafe`
    update diagnoses set state = ${state}, made_at = clock_timestamp(), leased_until = null,
      failing_probe_id = ${failing.probeId}, failing = ${jsonb(failing.diagnosis)},
      passing_probe_id = ${passing.probeId}, passing = ${jsonb(passing.diagnosis)},
      differences = ${JSON.stringify(differences)}::jsonb, summary = ${summary}
    where ${held(claimed)}`);
}

function jsonb(diagnosis: Diagnosis | undefined) {
  return diagnosis === undefined ? sql.fragment`null` : sql.fragment`${JSON.stringify(diagnosis)}::jsonb`;
}

const witnessRow = z.object({
  probe_id: z.number(),
  name: z.string(),
  region: z.string(),
  is_failing: z.boolean(),
  since: z.number(),
});

/** Probes with a fresh vote on the monitor: an open range of their own ends with the vote. Those that are lost, paused or quarantined are not asked. */
export async function witnessesOf(connection: CommonQueryMethods, monitorId: number): Promise<readonly Witness[]> {
  const rows = await connection.any(sql.type(witnessRow)`
    select r.probe_id, p.name, a.region, r.status in ('DOWN', 'TIMEOUT') as is_failing, r.started_at as since
    from probe_ranges r
    join assignments a on a.monitor_id = r.monitor_id and a.probe_id = r.probe_id and a.ended_at is null
    join probes p on p.id = r.probe_id
    where r.monitor_id = ${monitorId} and r.ended_at is null
      and p.offline_since is null and p.revoked_at is null and not p.is_paused
      and not exists (select from quarantines q where q.probe_id = p.id and q.ended_at is null)
    order by r.probe_id`);
  return rows.map((row) => ({
    probeId: row.probe_id,
    name: row.name,
    region: row.region,
    isFailing: row.is_failing,
    sinceMs: row.since,
  }));
}

const keptDiagnosis = z.unknown().transform((value, context): Diagnosis | null => {
  if (value === null) return null;
  const read = readDiagnosis(value);
  if (read !== undefined) return read;
  context.addIssue({ code: 'custom', message: 'is no diagnosis' });
  return z.NEVER;
});
const shownValue = z.union([z.string(), z.number()]).nullable();

const keptRow = z.object({
  since: z.number(),
  made_at: z.number().nullable(),
  state: z.enum(['wanted', 'made', 'failed']),
  failing_probe_id: z.number().nullable(),
  failing_name: z.string().nullable(),
  failing: keptDiagnosis,
  passing_probe_id: z.number().nullable(),
  passing_name: z.string().nullable(),
  passing: keptDiagnosis,
  differences: z.array(z.object({ field: z.string(), a: shownValue, b: shownValue })),
  summary: z.string(),
});

/** One side of a kept diagnosis. */
export type KeptSide = { readonly probeId: number; readonly name: string | null; readonly diagnosis: Diagnosis | null };
/** A diagnosis as it is kept. Times in milliseconds since the epoch. */
export type KeptDiagnosis = {
  readonly sinceMs: number;
  /** null while it is under way. */
  readonly madeMs: number | null;
  readonly state: 'wanted' | 'made' | 'failed';
  readonly failing: KeptSide | null;
  readonly passing: KeptSide | null;
  readonly differences: readonly Difference[];
  readonly summary: string;
};

/**
 * Diagnoses of a monitor whose disagreement began inside a status range, oldest first. The caller has seen that the monitor is the tenant's.
 * @param rangeId of a range of this monitor
 */
export async function diagnosesOfRange(
  connection: CommonQueryMethods,
  monitorId: number,
  rangeId: number,
): Promise<readonly KeptDiagnosis[]> {
  // Onsets are known to a millisecond and ranges to a microsecond.
  const rows = await connection.any(sql.type(keptRow)`
    select d.since, d.made_at, d.state, d.failing_probe_id, f.name as failing_name, d.failing, d.passing_probe_id,
      p.name as passing_name, d.passing, d.differences, d.summary
    from status_ranges r
    join diagnoses d on d.monitor_id = r.monitor_id and d.since >= date_trunc('milliseconds', r.started_at)
      and (r.ended_at is null or d.since < date_trunc('milliseconds', r.ended_at))
    left join probes f on f.id = d.failing_probe_id
    left join probes p on p.id = d.passing_probe_id
    where r.monitor_id = ${monitorId} and r.id = ${rangeId}
    order by d.since limit 100`);
  return rows.map((row) => ({
    sinceMs: row.since,
    madeMs: row.made_at,
    state: row.state,
    failing: keptSide(row.failing_probe_id, row.failing_name, row.failing),
    passing: keptSide(row.passing_probe_id, row.passing_name, row.passing),
    differences: row.differences,
    summary: row.summary,
  }));
}

function keptSide(probeId: number | null, name: string | null, diagnosis: Diagnosis | null): KeptSide | null {
  return probeId === null ? null : { probeId, name, diagnosis };
}

const rowsAtOnce = 1_000;

/**
 * Removes a batch of a monitor's diagnoses: those of disagreements that began before the time (milliseconds), all when it is null.
 * @returns how many; whether there were any; whether all of them were held by other transactions
 */
export async function removeDiagnoses(
  worker: CommonQueryMethods,
  monitorId: number,
  beforeMs: number | null,
): Promise<{ readonly removed: { readonly diagnoses: number }; readonly wasAny: boolean; readonly wasHeld: boolean }> {
  const older = beforeMs === null ? sql.fragment`` : sql.fragment`and d.since < ${sql.timestamp(new Date(beforeMs))}`;
  const row = await worker.one(sql.type(z.object({ rows: z.number(), was_any: z.boolean() }))`
    with gone as (
      delete from diagnoses where ctid = any(array(
        select d.ctid from diagnoses d where d.monitor_id = ${monitorId} ${older} limit ${rowsAtOnce} for update skip locked))
      returning 1)
    select exists (select from diagnoses d where d.monitor_id = ${monitorId} ${older}) as was_any,
      (select count(*) from gone)::integer as rows`);
  return { removed: { diagnoses: row.rows }, wasAny: row.was_any, wasHeld: row.was_any && row.rows === 0 };
}

/** When one is due next, a query of one instant. */
export const firstDue = sql.fragment`
  select min(greatest(due_at, coalesce(leased_until, due_at))) from diagnoses where state = 'wanted'`;
