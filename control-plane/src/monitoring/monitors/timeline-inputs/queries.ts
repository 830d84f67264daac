import { freshSeconds } from '@parallax/checks';
import { consensusPolicySchema } from '@parallax/api-contract';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { Assignment, ConfigurationEvent, MonitorInputs } from '../../consensus/index.ts';

/** How a monitor was checked from a time on. */
export type Cadence = { readonly fromUs: number; readonly intervalS: number; readonly timeoutS: number };

/** All that a monitor's timeline depends on beside its results, as far as it matters from a time on. */
export type TimelineInputs = {
  readonly inputs: MonitorInputs;
  /** With the events of the configuration; the first also holds before it. */
  readonly cadences: readonly Cadence[];
  /** The longest that one of its results stays fresh. */
  readonly longestFreshUs: number;
};

/** SQL for the whole microseconds of an instant; exact. */
const us = (column: ReturnType<typeof sql.fragment>) => sql.fragment`(extract(epoch from ${column}) * 1000000)::bigint`;

const wholeUs = z.bigint().transform(Number);
const monitorRow = z.object({ created_us: wholeUs, reset_us: wholeUs.nullable() });
const intervalRow = z.object({ from_us: wholeUs, to_us: wholeUs.nullable() });
const assignmentRow = intervalRow.extend({
  probe_id: z.number(),
  region: z.string(),
  supplement: z.boolean(),
  counts_by_us: wholeUs.nullable(),
});
const quarantineRow = intervalRow.extend({ probe_id: z.number() });
const configurationRow = z.object({
  from_us: wholeUs,
  probe_revision: z.number(),
  confirmations: z.number(),
  consensus_policy: consensusPolicySchema,
  interval_seconds: z.number(),
  timeout_seconds: z.number(),
});

/**
 * Reads the inputs of a monitor that the caller has seen to be the tenant's. What ended before `sinceMs` (milliseconds) is left out; a
 * timeline from then on does not depend on it.
 */
export async function readTimelineInputs(
  connection: CommonQueryMethods,
  monitorId: number,
  sinceMs: number,
): Promise<TimelineInputs> {
  const since = sql.timestamp(new Date(sinceMs));
  const span = (alias: ReturnType<typeof sql.fragment>) =>
    sql.fragment`${us(sql.fragment`${alias}.started_at`)} as from_us, ${us(sql.fragment`${alias}.ended_at`)} as to_us`;
  const monitor = await connection.one(sql.type(monitorRow)`
    select ${us(sql.fragment`m.created_at`)} as created_us, ${us(sql.fragment`m.reset_at`)} as reset_us
    from monitors m where m.id = ${monitorId}`);
  const assignments = await connection.any(sql.type(assignmentRow)`
    select a.probe_id, a.region, a.supplement, ${us(sql.fragment`a.counts_by`)} as counts_by_us, ${span(sql.fragment`a`)} from assignments a
    where a.monitor_id = ${monitorId} and (a.ended_at is null or a.ended_at > ${since}) order by a.id`);
  const pauses = await connection.any(sql.type(intervalRow)`
    select ${span(sql.fragment`p`)} from pauses p
    where p.monitor_id = ${monitorId} and (p.ended_at is null or p.ended_at > ${since}) order by p.id`);
  const quarantines = await connection.any(sql.type(quarantineRow)`
    select q.probe_id, ${span(sql.fragment`q`)} from quarantines q
    where q.probe_id = any(${sql.array([...new Set(assignments.map((row) => row.probe_id))], 'int4')})
      and (q.ended_at is null or q.ended_at > ${since}) order by q.id`);
  const history = await connection.any(sql.type(configurationRow)`
    select ${us(sql.fragment`h.effective_at`)} as from_us, h.probe_revision, h.confirmations, h.consensus_policy,
      h.interval_seconds, h.timeout_seconds
    from monitor_history h
    where h.monitor_id = ${monitorId} and h.effective_at >= coalesce((
      select max(e.effective_at) from monitor_history e where e.monitor_id = h.monitor_id and e.effective_at <= ${since}), '-infinity')
    order by h.effective_at, h.version`);
  return {
    inputs: {
      monitorId,
      assignments: assignments.map(assignment),
      configurations: history.map(configuration),
      pauses: pauses.map(interval),
      quarantines: quarantines.map((row) => ({ voter: row.probe_id, ...interval(row) })),
      resetUs: monitor.reset_us,
      createdUs: monitor.created_us,
    },
    cadences: history.map((row) => ({
      fromUs: row.from_us,
      intervalS: row.interval_seconds,
      timeoutS: row.timeout_seconds,
    })),
    longestFreshUs: Math.max(0, ...history.map((row) => freshUs(row.interval_seconds, row.timeout_seconds))),
  };
}

/** Rule 2 of consensus; the fallback of the control plane checks every minute at most, so its results last at least as long. */
export function freshUs(intervalS: number, timeoutS: number): number {
  return freshSeconds(Math.max(intervalS, 60), timeoutS) * 1_000_000;
}

const interval = (row: z.infer<typeof intervalRow>) => ({ fromUs: row.from_us, toUs: row.to_us });

const assignment = (row: z.infer<typeof assignmentRow>): Assignment => ({
  voter: row.probe_id,
  region: row.region,
  supplement: row.supplement,
  ...(row.counts_by_us === null ? {} : { countsByUs: row.counts_by_us }),
  ...interval(row),
});

const configuration = (row: z.infer<typeof configurationRow>): ConfigurationEvent => ({
  fromUs: row.from_us,
  probeRevision: row.probe_revision,
  confirmations: row.confirmations,
  policy: row.consensus_policy,
  intervalS: row.interval_seconds,
});
