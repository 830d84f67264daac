import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { codeOf, failuresBehind, readStored } from '../../../../monitoring/monitors/index.ts';
import { sql } from '../../../../platform/database/pools.ts';
import type { NoticeSubject, NoticeVote } from '../../../messages/index.ts';
import { payloadText } from '../payload-text.ts';

/* What a message says beyond its occasion: who is part of an incident, who saw what, who did something. */

const namedMembers = 20;

const memberRow = z.object({
  incident_id: z.number(),
  type: z.string(),
  id: z.number(),
  name: z.string(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  cause: z.record(z.string(), z.unknown()).nullable(),
  of: z.number(),
  acknowledged_by: z.string().nullable(),
  resolved_by: z.string().nullable(),
  next_check_at: z.number().nullable(),
});

/** Facts of an incident. */
export type IncidentMembers = {
  readonly subjects: readonly NoticeSubject[];
  readonly count: number;
  /** Why the first one fails, as it was at its onset or changed to. */
  readonly cause: Readonly<Record<string, unknown>> | null;
  readonly acknowledgedBy: string | null;
  readonly resolvedBy: string | null;
  readonly nextCheckMs: number | null;
};

/** The first members of incidents, by incident. */
export async function membersOf(
  connection: CommonQueryMethods,
  incidentIds: readonly number[],
): Promise<ReadonlyMap<number, IncidentMembers>> {
  if (incidentIds.length === 0) return new Map();
  const rows = await connection.any(sql.type(memberRow)`
    select i.id as incident_id, u.subject_type as type, u.subject_id as id, u.name, u.started_at, u.ended_at, u.causes -> -1 as cause,
      (select count(*)::integer from incident_members c where c.incident_id = i.id) as of,
      a.display_name as acknowledged_by, r.display_name as resolved_by,
      case when u.subject_type = 'monitor' and u.ended_at is null
        then latest.e + make_interval(secs => m.interval_seconds * greatest(1, ceil(extract(epoch from now() - latest.e) / m.interval_seconds)))
      end as next_check_at
    from incidents i
      cross join lateral (select * from incident_members u where u.incident_id = i.id order by u.started_at, u.id limit ${namedMembers}) u
      left join users a on a.id = i.acknowledged_by
      left join users r on r.id = i.resolved_by
      left join monitors m on u.subject_type = 'monitor' and m.id = u.subject_id
      left join lateral (
        select e from check_results c where c.monitor_id = m.id and c.e > now() - make_interval(secs => 2 * m.interval_seconds + 60)
        order by e desc limit 1) latest on true
    where i.id = any(${sql.array([...incidentIds], 'int4')})
    order by i.id, u.started_at, u.id`);
  const found = new Map<number, IncidentMembers>();
  for (const [id, members] of Map.groupBy(rows, (row) => row.incident_id)) {
    const [first] = members;
    if (first === undefined) continue;
    found.set(id, {
      subjects: members.map((row) => ({
        type: row.type,
        id: row.id,
        name: row.name,
        status: typeof row.cause?.['status'] === 'string' ? row.cause['status'] : null,
        startedMs: row.started_at,
        endedMs: row.ended_at,
      })),
      count: first.of,
      cause: first.cause,
      acknowledgedBy: first.acknowledged_by,
      resolvedBy: first.resolved_by,
      nextCheckMs: first.next_check_at,
    });
  }
  return found;
}

const nameRow = z.object({ name: z.string().nullable() });

/** The name of an account; null where it has none or is gone. */
export async function nameOf(connection: CommonQueryMethods, userId: number): Promise<string | null> {
  return connection.maybeOneFirst(sql.type(nameRow)`select display_name as name from users where id = ${userId}`);
}

const reportRow = z.object({ body: z.string(), payload: z.record(z.string(), z.unknown()).nullable() });

/**
 * What a job wrote with a signal, by the signal's number: the `payload` of a JSON body, else the body. Null where it wrote nothing, or that is not kept any
 * more.
 */
export async function reportOf(
  connection: CommonQueryMethods,
  heartbeatId: number,
  ping: number,
): Promise<string | null> {
  const rows = await connection.any(sql.type(reportRow)`
    select body, payload from heartbeat_bodies where heartbeat_id = ${heartbeatId} and n = ${ping}`);
  const [found] = rows;
  if (found === undefined) return null;
  return found.payload === null ? found.body : payloadText(found.payload);
}

const writtenRow = z.object({ body: z.string() });

/** What somebody wrote of an incident, by the number of the message that announces it; null where nobody did, or it was removed since. */
export async function writtenOf(
  connection: CommonQueryMethods,
  incidentId: number,
  seq: number,
): Promise<string | null> {
  const rows = await connection.any(sql.type(writtenRow)`
    select body from incident_updates where incident_id = ${incidentId} and told_seq = ${seq} order by id desc limit 1`);
  return rows[0]?.body ?? null;
}

/**
 * The words with which somebody resolved an incident by hand, by the number of the message that told of its problem: those of an end before it opened
 * again are of that one. Null where there are none, or they were removed since.
 */
export async function closingOf(
  connection: CommonQueryMethods,
  incidentId: number,
  problemSeq: number,
): Promise<string | null> {
  const rows = await connection.any(sql.type(writtenRow)`
    select u.body from incident_updates u join incidents i on i.id = u.incident_id
    where u.incident_id = ${incidentId} and u.kind = 'resolved' and u.told_seq > ${problemSeq}
      and i.status = 'resolved' and i.resolution = 'manual'
    order by u.told_seq limit 1`);
  return rows[0]?.body ?? null;
}

/** How a vote of the control plane itself is named, see `NoticeVote`. */
const ofControlPlane = '';

export type Seen = { readonly votes: readonly NoticeVote[]; readonly missing: readonly string[] };

const probeRow = z.object({ id: z.number(), name: z.string(), region: z.string() });

/**
 * Who saw what of a monitor's outage, from the evidence that its incident keeps. Sentences of failures are read for the first probes alone.
 */
export async function seenOf(
  connection: CommonQueryMethods,
  monitorId: number,
  startedMs: number,
  evidence: unknown,
): Promise<Seen> {
  const { voters, missing } = readStored(evidence);
  if (voters.length === 0) return { votes: [], missing: [] };
  const rows = await connection.any(sql.type(probeRow)`
    select id, name, region from probes where id = any(${sql.array([...voters.map(({ voter }) => voter), ...missing], 'int4')})`);
  const probes = new Map(rows.map((row) => [row.id, row]));
  const failing = voters.filter(({ vote }) => vote !== 'UP').slice(0, 10);
  const failures = await failuresBehind(connection, monitorId, startedMs * 1_000, failing);
  const probeName = (id: number): string => probes.get(id)?.name ?? (id === 0 ? ofControlPlane : `probe ${id}`);
  return {
    votes: voters.map((vote) => ({
      probe: probeName(vote.voter),
      region: probes.get(vote.voter)?.region ?? null,
      vote: vote.vote,
      code: codeOf(vote) ?? null,
      text: failures.get(vote.voter)?.message ?? null,
    })),
    missing: missing.map(probeName),
  };
}
