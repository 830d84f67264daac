import { checkKinds, outcomes } from '@parallax/checks';
import type { CheckKind } from '@parallax/checks';
import type { CommonQueryMethods, DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { ofScope } from '../revoke.queries.ts';
import type { SeenMonitor } from './judge.ts';

/** A probe is judged by so many of its monitors at most: enough to tell half of them from a third, and a bound for what is read. */
const judgedMonitors = 1_000;
/** Below this share of its monitors, and below three of them, nobody looks closer; a probe that says anything by chance passes it. */
const suspiciousShare = 8;
const suspiciousMonitors = 3;
/** Shorter intervals are judged by this: trouble of some seconds is no reason to put a probe away for half an hour. */
const leastIntervalS = 10;
/** A shard that is not folded up to the present says nothing of the present. */
const foldedWithinMs = 30_000;
/** Somebody who ends a quarantine by hand knows better for so long. */
const trustedHours = 24;

const instant = (ms: number) => sql.fragment`${sql.timestamp(new Date(ms))}`;
const trustedSince = (nowMs: number) => instant(nowMs - trustedHours * 3_600_000);

const isFailingStatus = sql.fragment`status in ('DOWN', 'TIMEOUT')`;

const probeRow = z.object({ id: z.number() });

/**
 * Probes that stand alone with their present vote on so many monitors that it is worth to look closer, the worst first: from the open
 * ranges of monitors that fail for anybody, which are few, in one query. None that is in quarantine, paused, or was let out by hand lately.
 */
export async function suspects(pool: CommonQueryMethods, nowMs: number, limit: number): Promise<readonly number[]> {
  const rows = await pool.any(sql.type(probeRow)`
    with failing as materialized (
      select distinct monitor_id from probe_ranges where ended_at is null and ${isFailingStatus} and probe_id > 0
    ), votes as (
      select
        count(*) filter (where r.${isFailingStatus}) as failing, min(r.probe_id) filter (where r.${isFailingStatus}) as failing_probe,
        count(*) filter (where not r.${isFailingStatus}) as good, min(r.probe_id) filter (where not r.${isFailingStatus}) as good_probe
      from failing join probe_ranges r on r.monitor_id = failing.monitor_id and r.ended_at is null and r.probe_id > 0
      where not exists (select from quarantines q where q.probe_id = r.probe_id and q.ended_at is null)
      group by r.monitor_id
    ), alone as (
      select case when failing = 1 and good >= 2 then failing_probe when good = 1 and failing >= 2 then good_probe end as probe_id
      from votes
    ), counted as (
      select probe_id, count(*) as alone from alone where probe_id is not null group by probe_id having count(*) >= ${suspiciousMonitors}
    )
    select p.id from counted join probes p on p.id = counted.probe_id
      cross join lateral (select count(*) as seats from assignments a where a.probe_id = p.id and a.ended_at is null) held
    where p.revoked_at is null and not p.is_paused and counted.alone * ${suspiciousShare} >= held.seats
      and not exists (
        select from quarantines q
        where q.probe_id = p.id and (q.ended_at is null
          or (q.lifted_by is not null and q.ended_at > ${trustedSince(nowMs)})))
    order by counted.alone::float8 / greatest(held.seats, 1) desc, p.id limit ${limit}`);
  return rows.map((row) => row.id);
}

/** An open quarantine. */
export type OpenQuarantine = { readonly id: bigint; readonly probeId: number };

/** Quarantines that last, of probes that still exist. */
export async function openQuarantines(pool: CommonQueryMethods): Promise<readonly OpenQuarantine[]> {
  const rows = await pool.any(sql.type(z.object({ id: z.bigint(), probe_id: z.number() }))`
    select q.id, q.probe_id from quarantines q join probes p on p.id = q.probe_id
    where q.ended_at is null and p.revoked_at is null order by q.id`);
  return rows.map((row) => ({ id: row.id, probeId: row.probe_id }));
}

const seenRow = z.object({
  workspace_id: z.number(),
  interval_s: z.number(),
  until: z.number(),
  probe_ids: z.array(z.number()),
  are_failing: z.array(z.boolean()),
  first_ages_ms: z.array(z.number()),
  last_ages_ms: z.array(z.number()),
});

const isKind = (kind: CheckKind) => sql.fragment`(r.flags & 3) = ${checkKinds.indexOf(kind)}`;
const firstFailing = outcomes.indexOf('fail');
const lastVerdict = outcomes.indexOf('timeout');

/**
 * What was seen of the monitors of a probe within two of their intervals up to where they are folded: by itself since its last quarantine,
 * and by others that may bear witness. Those are in no quarantine, and beside a public probe public ones: whoever has probes of his own must not be
 * able to speak against everybody's. The control plane is nobody's witness. Monitors that were paused within that time are left out. Of its own
 * looks those in its rhythm are read, of others the first and the last of each answer: while something fails there are many.
 */
export async function seenByProbe(pool: CommonQueryMethods, probeId: number, nowMs: number): Promise<SeenMonitor[]> {
  const rows = await pool.any(sql.type(seenRow)`
    with judged as materialized (
      select p.id, p.workspace_id, coalesce((select max(q.ended_at) from quarantines q where q.probe_id = p.id), '-infinity') as since
      from probes p where p.id = ${probeId}
    ), witness as materialized (
      select w.id, judged.since from judged join probes w on w.id = judged.id
      union all
      select w.id, '-infinity' from judged join probes w on w.id <> judged.id and w.revoked_at is null
        and (judged.workspace_id is not null or w.workspace_id is null)
      where not exists (select from quarantines q where q.probe_id = w.id and q.ended_at is null)
    ), sample as materialized (
      select a.monitor_id from assignments a
      where a.probe_id = ${probeId} and a.ended_at is null order by hashint4(a.monitor_id), a.monitor_id limit ${judgedMonitors}
    )
    select m.workspace_id, span.interval_s, s.folded_until as until, looks.*
    from sample join monitors m on m.id = sample.monitor_id
      join shards s on s.shard = m.shard and s.folded_until > ${instant(nowMs - foldedWithinMs)}
      cross join lateral (select greatest(m.interval_seconds, ${leastIntervalS}) as interval_s) span
      cross join lateral (select s.folded_until - make_interval(secs => 2 * span.interval_s) as began_at) time
      cross join lateral (
        select array_agg(probe_id) as probe_ids, array_agg(is_failing) as are_failing,
          array_agg((extract(epoch from s.folded_until - first_e) * 1000)::integer) as first_ages_ms,
          array_agg((extract(epoch from s.folded_until - last_e) * 1000)::integer) as last_ages_ms
        from (
          select r.probe_id, ((r.flags >> 2) & 15) >= ${firstFailing} as is_failing, min(r.e) as first_e, max(r.e) as last_e
          from check_results r join witness on witness.id = r.probe_id and r.e > witness.since
          where r.monitor_id = m.id and r.e > greatest(time.began_at, m.reset_at) and r.e <= s.folded_until
            and case when r.probe_id = ${probeId} then ${isKind('scheduled')} else not ${isKind('manual')} end
            and ((r.flags >> 2) & 15) <= ${lastVerdict} and r.probe_revision >= m.probe_revision
          group by r.probe_id, is_failing, case when r.probe_id = ${probeId} then r.e end
        ) seen
      ) looks
    where m.is_active and m.deleted_at is null and looks.probe_ids is not null
      and not exists (select from pauses where pauses.monitor_id = m.id and (pauses.ended_at is null or pauses.ended_at > time.began_at))`);
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    intervalMs: row.interval_s * 1_000,
    untilMs: row.until,
    looks: row.probe_ids.flatMap((id, index) => {
      const look = { probeId: id, isFailing: row.are_failing[index] ?? false, isScheduled: id === probeId };
      const [first = 0, last = first] = [row.first_ages_ms[index], row.last_ages_ms[index]];
      return (first === last ? [first] : [first, last]).map((ageMs) => ({ ...look, atMs: row.until - ageMs }));
    }),
  }));
}

export async function regionsOfProbes(pool: CommonQueryMethods): Promise<Map<number, string>> {
  const rows = await pool.any(sql.type(z.object({ id: z.number(), region: z.string() }))`
    select id, region from probes where revoked_at is null`);
  return new Map(rows.map((row) => [row.id, row.region]));
}

const openedRow = z.object({ name: z.string(), region: z.string() });

/**
 * Opens a quarantine with its one notice. False when the probe is in one already, was let out by hand meanwhile, or is revoked: of
 * several that judge at once one writes.
 */
export async function openQuarantine(
  pool: DatabasePool,
  probeId: number,
  reason: string,
  nowMs: number,
): Promise<boolean> {
  return pool.transaction(async (tx) => {
    const opened = await tx.maybeOne(sql.type(openedRow)`
      with probe as (
        select id, name, region from probes where id = ${probeId} and revoked_at is null for no key update
      ), opened as (
        insert into quarantines (probe_id, started_at, reason)
        select id, ${instant(nowMs)}, ${reason} from probe
        where not exists (
          select from quarantines q where q.probe_id = probe.id and q.lifted_by is not null
            and q.ended_at > ${trustedSince(nowMs)})
        on conflict (probe_id) where ended_at is null do nothing returning probe_id
      )
      select probe.name, probe.region from probe join opened on opened.probe_id = probe.id`);
    if (opened === null) return false;
    await enqueue(tx, notice('probe.quarantined', probeId, { ...opened, reason }));
    return true;
  });
}

/** Notes whether a probe in quarantine agrees with the others: its time runs from the first time on that it does without a break. */
export async function noteClean(
  pool: CommonQueryMethods,
  quarantineId: bigint,
  isClean: boolean,
  nowMs: number,
): Promise<void> {
  await pool.query(sql.unsafe`
    update quarantines set clean_since = case when ${isClean} then coalesce(clean_since, ${instant(nowMs)}) end
    where id = ${quarantineId} and ended_at is null and (clean_since is not null) <> ${isClean}`);
}

/** Ends quarantines of probes that have agreed with the others for so long. @returns the probes */
export async function endServed(pool: DatabasePool, nowMs: number, cleanMs: number): Promise<readonly number[]> {
  return pool.transaction(async (tx) => {
    const ended = await tx.any(sql.type(openedRow.extend({ probe_id: z.number() }))`
      update quarantines q set ended_at = ${instant(nowMs)}, changed_xid = pg_current_xact_id()
      from probes p
      where p.id = q.probe_id and p.revoked_at is null and q.ended_at is null and q.clean_since <= ${instant(nowMs - cleanMs)}
      returning q.probe_id, p.name, p.region`);
    await enqueue(
      tx,
      ...ended.map(({ probe_id, name, region }) => notice('probe.released', probe_id, { name, region })),
    );
    return ended.map((row) => row.probe_id);
  });
}

/** Ends the quarantine of a probe of the scope by hand. False when it is in none. */
export async function liftQuarantine(
  scope: Scope,
  tx: Transaction,
  probe: { readonly id: number; readonly name: string; readonly region: string },
  by: { readonly userId: number; readonly nowMs: number },
): Promise<boolean> {
  const lifted = await tx.query(sql.unsafe`
    update quarantines set ended_at = greatest(${instant(by.nowMs)}, started_at), changed_xid = pg_current_xact_id(), lifted_by = ${by.userId}
    where probe_id = ${probe.id} and ended_at is null
      and exists (select from probes where id = ${probe.id} and ${ofScope(scope)})`);
  if (lifted.rowCount === 0) return false;
  await enqueue(tx, notice('probe.released', probe.id, { name: probe.name, region: probe.region, by_hand: true }));
  return true;
}

function notice(
  kind: 'probe.quarantined' | 'probe.released',
  probeId: number,
  facts: Readonly<Record<string, unknown>>,
) {
  return { key: `probe:${probeId}`, kind, payload: { probe_id: probeId, ...facts } };
}
