import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Transaction } from '../../../platform/database/pools.ts';

/** One change of the log of assignments. `touch` gives an open seat a new revision because its monitor changed. */
export type SeatChange = {
  readonly operation: 'open' | 'close' | 'touch';
  readonly monitorId: number;
  readonly probeId: number;
  /** Needed to open: the probe's region at this time, kept with the seat. */
  readonly region?: string;
  /** Opens a supplement instead of a seat: the probe whose seat it fills. */
  readonly standsInFor?: number;
};

const numberedProbe = z.object({ id: z.number(), assignment_revision: z.bigint() });

/**
 * Writes changes of seats. The probes are locked in ascending order, so writers never wait for each other in a circle and the
 * revisions of a probe become visible in their order: whoever sees revision R sees everything below. Every row gets a
 * revision of its own, in the order given, so what is to be opened for a probe comes after what is closed for it. The monitors'
 * rows must be locked (or new in this transaction) before. All changes of a monitor bear one instant: where a seat goes from
 * one probe to another, their number is the same at every instant. A seat counts one interval and timeout after its opening at
 * the latest; whether it counts sooner is said by the consensus (rule 4).
 * @returns the probes that have something new, for a hint after the commit
 */
export async function writeSeats(tx: Transaction, changes: readonly SeatChange[]): Promise<number[]> {
  if (changes.length === 0) return [];
  const numbered = await numberChanges(tx, changes, await instantsOf(tx, changes));
  await writeClosedAndTouched(tx, numbered);
  const opened = numbered.filter((change) => change.operation === 'open');
  if (opened.length > 0) {
    await tx.query(sql.unsafe`
      insert into assignments (monitor_id, probe_id, region, supplement, stands_in_for, started_at, counts_by, revision)
      select monitor_id, probe_id, region, stands_in_for is not null, stands_in_for, at::timestamptz,
        at::timestamptz + (monitor.interval_seconds + monitor.timeout_seconds) * interval '1 second', revision
      from ${sql.unnest(
        opened.map((change) => [
          change.monitorId,
          change.probeId,
          change.region ?? '',
          change.standsInFor ?? null,
          change.at,
          change.revision,
        ]),
        ['int4', 'int4', 'text', 'int4', 'text', 'int8'],
      )} with ordinality as opened (monitor_id, probe_id, region, stands_in_for, at, revision, place)
        join monitors monitor on monitor.id = opened.monitor_id
      order by place
      on conflict (monitor_id, probe_id) where ended_at is null do update set revision = excluded.revision`);
  }
  await tx.query(sql.unsafe`
    update monitors set changed_xid = pg_current_xact_id()
    where id = any (${sql.array([...new Set(changes.map((change) => change.monitorId))], 'int4')})`);
  return [...new Set(changes.map((change) => change.probeId))];
}

type NumberedChange = SeatChange & { readonly revision: bigint; readonly at: string };

const instantRow = z.object({ monitor_id: z.number(), at: z.string() });

/**
 * The instant of the change, by monitor: now, but never before the last one. A transaction that began earlier and waited for the
 * monitor's lock would else end a seat before it began. As text, which keeps the microseconds.
 */
async function instantsOf(tx: Transaction, changes: readonly SeatChange[]): Promise<ReadonlyMap<number, string>> {
  const rows = await tx.any(sql.type(instantRow)`
    select changed.monitor_id, greatest(now(), max(greatest(past.started_at, past.ended_at)))::text as at
    from ${sql.unnest(
      [...new Set(changes.map((change) => change.monitorId))].map((monitorId) => [monitorId]),
      ['int4'],
    )} as changed (monitor_id) left join assignments past on past.monitor_id = changed.monitor_id
    group by changed.monitor_id`);
  return new Map(rows.map((row) => [row.monitor_id, row.at]));
}

async function numberChanges(
  tx: Transaction,
  changes: readonly SeatChange[],
  instants: ReadonlyMap<number, string>,
): Promise<NumberedChange[]> {
  const counts = new Map<number, number>();
  for (const { probeId } of changes) counts.set(probeId, (counts.get(probeId) ?? 0) + 1);
  const probeIds = [...counts.keys()].sort((a, b) => a - b);
  await tx.query(sql.unsafe`
    select id from probes where id = any (${sql.array(probeIds, 'int4')}) order by id for no key update`);
  const advanced = await tx.any(sql.type(numberedProbe)`
    update probes set assignment_revision = assignment_revision + wanted.rows
    from ${sql.unnest(
      probeIds.map((id) => [id, counts.get(id) ?? 0]),
      ['int4', 'int4'],
    )} as wanted (id, rows)
    where probes.id = wanted.id
    returning probes.id, probes.assignment_revision`);
  const next = new Map(
    advanced.map((probe) => [probe.id, probe.assignment_revision - BigInt((counts.get(probe.id) ?? 0) - 1)]),
  );
  return changes.map((change) => {
    const revision = next.get(change.probeId);
    const at = instants.get(change.monitorId);
    if (revision === undefined || at === undefined)
      throw new Error(`probe ${change.probeId} is not there or not visible`);
    next.set(change.probeId, revision + 1n);
    return { ...change, revision, at };
  });
}

async function writeClosedAndTouched(tx: Transaction, changes: readonly NumberedChange[]): Promise<void> {
  const rows = changes.filter((change) => change.operation !== 'open');
  if (rows.length === 0) return;
  await tx.query(sql.unsafe`
    update assignments set
      revision = changed.revision,
      ended_at = case when changed.closes then changed.at::timestamptz end
    from ${sql.unnest(
      rows.map((change) => [
        change.monitorId,
        change.probeId,
        change.operation === 'close',
        change.at,
        change.revision,
      ]),
      ['int4', 'int4', 'bool', 'text', 'int8'],
    )} as changed (monitor_id, probe_id, closes, at, revision)
    where assignments.monitor_id = changed.monitor_id and assignments.probe_id = changed.probe_id
      and assignments.ended_at is null`);
}
