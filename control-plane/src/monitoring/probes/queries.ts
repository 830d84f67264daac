import { Problem } from '@parallax/api-contract';
import type { AddressSource } from './allow-list.ts';
import type { ProbeAnswer } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { touchSeatsOfProbe } from '../assignments/index.ts';
import { ofScope } from './revoke.queries.ts';
import { lostAfterSeconds } from './sessions/queries.ts';

const quarantineRow = z.object({
  started_at: z.number(),
  ended_at: z.number().nullable(),
  reason: z.string(),
  clean_since: z.number().nullable(),
  is_lifted: z.boolean(),
});

const probeRow = z.object({
  id: z.number(),
  workspace_id: z.number().nullable(),
  name: z.string(),
  region: z.string(),
  is_paused: z.boolean(),
  agent_version: z.string(),
  capabilities: z.array(z.string()),
  public_addresses: z.array(z.string()),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
  last_seen_at: z.number().nullable(),
  assignment_revision: z.bigint(),
  session_since: z.number().nullable(),
  last_heartbeat_at: z.number().nullable(),
  in_flight: z.number().nullable(),
  oldest_unacknowledged_ms: z.bigint().nullable(),
  damaged_records: z.bigint().nullable(),
  applied_revision: z.bigint().nullable(),
  assigned_monitors: z.number(),
  certificate_expires_at: z.number().nullable(),
  quarantines: z.array(quarantineRow),
});
export type ProbeRow = z.infer<typeof probeRow>;

const probeColumns = sql.fragment`
  probe.id, probe.workspace_id, probe.name, probe.region, probe.is_paused, probe.agent_version, probe.capabilities,
  probe.public_addresses, probe.version, probe.created_at, probe.updated_at, probe.last_seen_at, probe.assignment_revision,
  session.opened_at as session_since, session.last_heartbeat_at, session.in_flight, session.oldest_unacknowledged_ms,
  session.damaged_records, session.applied_revision,
  (select count(*)::int from assignments where probe_id = probe.id and ended_at is null) as assigned_monitors,
  (select max(not_after) from probe_certificates where probe_id = probe.id and revoked_at is null) as certificate_expires_at,
  coalesce((
    select jsonb_agg(jsonb_build_object(
      'started_at', extract(epoch from q.started_at) * 1000, 'ended_at', extract(epoch from q.ended_at) * 1000,
      'reason', q.reason, 'clean_since', extract(epoch from q.clean_since) * 1000, 'is_lifted', q.lifted_by is not null
    ) order by q.started_at desc)
    from (select * from quarantines where probe_id = probe.id order by started_at desc limit 10) q
  ), '[]') as quarantines`;

/** Public probes and the private ones of the scope; with a workspace its private ones and the public ones. */
export async function listProbes(
  scope: Scope,
  tx: Transaction,
  page: { readonly limit: number; readonly offset: number; readonly workspaceId: number | undefined },
): Promise<{ rows: readonly ProbeRow[]; total: number }> {
  const visible = sql.fragment`probe.revoked_at is null and ${ofScope(scope)}
    and (probe.workspace_id is null or ${page.workspaceId ?? null}::int is null or probe.workspace_id = ${page.workspaceId ?? null})`;
  const rows = await tx.any(sql.type(probeRow)`
    select ${probeColumns}
    from probes probe left join probe_sessions session on session.probe_id = probe.id and session.closed_at is null
    where ${visible} order by probe.name, probe.id limit ${page.limit} offset ${page.offset}`);
  const { total } = await tx.one(sql.type(z.object({ total: z.number() }))`
    select count(*)::int as total from probes probe where ${visible}`);
  return { rows, total };
}

const countRow = z.object({
  online: z.number(),
  offline: z.number(),
  never_connected: z.number(),
  paused: z.number(),
  quarantined: z.number(),
});

/** How many probes of the scope and of the installation are in each state. A paused or quarantined one counts as that alone. */
export async function countProbes(
  scope: Scope,
  connection: CommonQueryMethods,
  nowMs: number,
): Promise<z.output<typeof countRow>> {
  const states = (['online', 'offline', 'never_connected', 'paused', 'quarantined'] as const).map(
    (state) => sql.fragment`(count(*) filter (where counted.state = ${state}))::integer as ${sql.identifier([state])}`,
  );
  const lostAt = sql.timestamp(new Date(nowMs - lostAfterSeconds * 1_000));
  return connection.one(sql.type(countRow)`
    select ${sql.join(states, sql.fragment`, `)} from (
      select case
        when probe.is_paused then 'paused'
        when exists (select from quarantines q where q.probe_id = probe.id and q.ended_at is null) then 'quarantined'
        when session.last_heartbeat_at > ${lostAt} then 'online'
        when coalesce(session.last_heartbeat_at, probe.last_seen_at) is null then 'never_connected'
        else 'offline' end as state
      from probes probe left join probe_sessions session on session.probe_id = probe.id and session.closed_at is null
      where probe.revoked_at is null and ${ofScope(scope)}) counted`);
}

/** A probe of the scope; undefined for one that is not visible, revoked or not there. */
export async function findProbe(scope: Scope, tx: Transaction, probeId: number): Promise<ProbeRow | undefined> {
  const row = await tx.maybeOne(sql.type(probeRow)`
    select ${probeColumns}
    from probes probe left join probe_sessions session on session.probe_id = probe.id and session.closed_at is null
    where probe.id = ${probeId} and probe.revoked_at is null and ${ofScope(scope)}`);
  return row ?? undefined;
}

export type ProbeChange = {
  readonly name?: string | undefined;
  readonly region?: string | undefined;
  readonly is_paused?: boolean | undefined;
};

/**
 * Writes a change; a pause or resume reaches the agent as a new revision of its seats.
 * @returns false when the version is another by now
 * @throws Problem `name_taken`
 */
export async function changeProbe(
  scope: Scope,
  tx: Transaction,
  before: ProbeRow,
  change: ProbeChange,
): Promise<boolean> {
  const isPaused = change.is_paused ?? before.is_paused;
  try {
    const changed = await tx.maybeOne(sql.typeAlias('id')`
      update probes set name = ${change.name ?? before.name}, region = ${change.region ?? before.region},
        is_paused = ${isPaused}, version = version + 1, updated_at = now()
      where id = ${before.id} and revoked_at is null and version = ${before.version} and ${ofScope(scope)} returning id`);
    if (changed === null) return false;
  } catch (error) {
    throw nameTaken(error, change.name ?? before.name);
  }
  if (isPaused !== before.is_paused) await touchSeatsOfProbe(tx, before.id);
  return true;
}

const addressRow = z.object({
  public_addresses: z.array(z.string()),
  source_addresses: z.array(z.string()),
  remote_address: z.string().nullable(),
});

/** Addresses of the public probes: what their operators and their kernels state, and where their sessions come from. */
export async function publicProbeAddresses(pool: CommonQueryMethods): Promise<readonly AddressSource[]> {
  const rows = await pool.any(sql.type(addressRow)`
    select probe.public_addresses, probe.source_addresses, session.remote_address
    from probes probe left join probe_sessions session on session.probe_id = probe.id and session.closed_at is null
    where probe.revoked_at is null and probe.workspace_id is null order by probe.id`);
  return rows.map((row) => ({
    stated: row.public_addresses,
    routed: row.source_addresses,
    seen: row.remote_address,
  }));
}

/** A row as the API shows it. @param lostAfterMs silence after which a session counts as gone */
export function probeAnswer(row: ProbeRow, nowMs: number, lostAfterMs: number): ProbeAnswer {
  const isOnline = row.last_heartbeat_at !== null && nowMs - row.last_heartbeat_at < lostAfterMs;
  const lastSeenMs = Math.max(row.last_heartbeat_at ?? 0, row.last_seen_at ?? 0);
  const quarantines = row.quarantines.map(quarantineAnswer);
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    region: row.region,
    is_paused: row.is_paused,
    agent_version: row.agent_version,
    capabilities: row.capabilities,
    public_addresses: row.public_addresses,
    health: {
      status: isOnline ? 'online' : lastSeenMs === 0 ? 'never_connected' : 'offline',
      session_since: isoTime(row.session_since),
      last_seen_at: lastSeenMs === 0 ? null : isoTime(lastSeenMs),
      in_flight: row.in_flight ?? 0,
      oldest_unacknowledged_ms: Number(row.oldest_unacknowledged_ms ?? 0n),
      damaged_records: Number(row.damaged_records ?? 0n),
      applied_revision: Number(row.applied_revision ?? 0n),
      assignment_revision: Number(row.assignment_revision),
      assigned_monitors: row.assigned_monitors,
      certificate_expires_at: isoTime(row.certificate_expires_at),
    },
    quarantine: quarantines.find(({ ended_at }) => ended_at === null) ?? null,
    quarantines,
    version: row.version,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  };
}

function quarantineAnswer(row: z.infer<typeof quarantineRow>): ProbeAnswer['quarantines'][number] {
  return {
    started_at: new Date(row.started_at).toISOString(),
    ended_at: isoTime(row.ended_at),
    reason: row.reason,
    clean_since: row.ended_at === null ? isoTime(row.clean_since) : null,
    is_lifted: row.is_lifted,
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function nameTaken(error: unknown, name: string): unknown {
  const isTaken = error instanceof UniqueIntegrityConstraintViolationError && error.constraint === 'probes_name';
  return isTaken ? new Problem('name_taken', `a probe named ${name} exists already`) : error;
}
