import { Problem } from '@parallax/api-contract';
import type { Assignment } from '@parallax/wire';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import type { Sealer } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import type { Transaction } from '../../platform/database/pools.ts';
import { choiceOf, defaultSeats } from './choose.ts';
import type { ProbeCandidate } from './choose.ts';
import { requiredCapabilities } from './requirements.ts';
import { writeSeats } from './seats/queries.ts';
import { isActive } from './paused/queries.ts';
import { unknownProbes } from './unknown-probes.ts';
import { canSupplement } from './supplements.ts';
import { seatChanges, supplementChanges } from './seat-changes.ts';
import { probeTargets } from './private-reach.ts';
import type { WorkspaceReach } from './private-reach.ts';
import { assignmentsPerMessage, snapshotHash, toSteps } from './snapshot.ts';
import type { AssignmentRow, AssignmentStep } from './snapshot.ts';

const wantsRow = z.object({
  workspace_id: z.number(),
  protocol: z.string(),
  url: z.string(),
  settings: z.record(z.string(), z.unknown()),
  wanted_probe_ids: z.array(z.number()).nullable(),
  wanted_regions: z.array(z.string()).nullable(),
});
export const candidateRow = z.object({
  id: z.number(),
  workspace_id: z.number().nullable(),
  region: z.string(),
  capabilities: z.array(z.string()),
  is_lost: z.boolean(),
  is_paused: z.boolean(),
  has_connected: z.boolean(),
  load: z.number(),
});
const seatRow = z.object({ probe_id: z.number(), region: z.string(), stands_in_for: z.number().nullable() });
type OpenRow = z.infer<typeof seatRow>;

/**
 * Gives a monitor its probes by what it wants, in the transaction that creates it or changes its wishes, protocol or
 * settings. Kept seats get a new revision too, so the caller need not touch them besides. A supplement is no seat and is not
 * counted as one: it stays where the seat that it fills is kept and it still fits; where its probe is chosen it becomes a seat.
 * @returns the probes that have something new; send each the hint `{ type: 'assignments' }` after the commit
 * @throws Problem `no_probe_able` or `invalid_input` (`/probe_ids`) when the wish cannot be met
 */
export async function assignMonitor(tx: Transaction, monitorId: number): Promise<number[]> {
  const wants = await tx.one(sql.type(wantsRow)`
    select workspace_id, protocol, url, settings, wanted_probe_ids, wanted_regions
    from monitors where id = ${monitorId} for no key update`);
  const probes = await loadCandidates(tx, wants.workspace_id);
  const open = await openRows(tx, monitorId);
  const supplements = open.flatMap(({ probe_id: probeId, region, stands_in_for: standsInFor }) =>
    standsInFor === null ? [] : [{ probeId, region, standsInFor }],
  );
  const current = open.flatMap((row) => (row.stands_in_for === null ? [row.probe_id] : []));
  const choice = choiceOf(
    wants.protocol,
    {
      probeIds: wants.wanted_probe_ids,
      regions: wants.wanted_regions,
      requires: requiredCapabilities(wants.protocol, wants.url, wants.settings),
    },
    probes,
    current,
  );
  if (choice.kind === 'refused' && choice.reason === 'unknown_probe') {
    throw unknownProbes(choice.detail, choice.places);
  }
  if (choice.kind === 'refused') throw new Problem('no_probe_able', choice.detail);
  const wanted = choice.kind === 'central' ? [] : choice.probeIds;
  const monitor = {
    workspaceId: wants.workspace_id,
    protocol: wants.protocol,
    url: wants.url,
    settings: wants.settings,
    wantedProbeIds: wants.wanted_probe_ids,
    wantedRegions: wants.wanted_regions,
  };
  const fitting = supplements.filter(({ probeId, region }) =>
    probes.some((probe) => probe.id === probeId && probe.region === region && canSupplement(probe, monitor)),
  );
  return writeSeats(tx, [
    ...supplementChanges(monitorId, supplements, fitting, current, wanted),
    ...seatChanges(monitorId, current, wanted, probes),
  ]);
}

/**
 * Gives the open seats and supplements of monitors a new revision, so that their probes learn of a change of configuration, a pause or a
 * resume. The caller's transaction has locked or changed the monitors' rows. All of a transaction in one call: the probes are locked in order.
 * @returns the probes to be hinted after the commit
 */
export async function touchAssignments(tx: Transaction, ...monitorIds: readonly number[]): Promise<number[]> {
  return changeOpenSeats(tx, monitorIds, 'touch');
}

/** Closes every seat and supplement of monitors, when they are deleted. @returns the probes to be hinted after the commit */
export async function closeAssignments(tx: Transaction, ...monitorIds: readonly number[]): Promise<number[]> {
  return changeOpenSeats(tx, monitorIds, 'close');
}

const seatOfMonitor = z.object({ monitor_id: z.number(), probe_id: z.number() });

async function changeOpenSeats(
  tx: Transaction,
  monitorIds: readonly number[],
  operation: 'touch' | 'close',
): Promise<number[]> {
  const open = await tx.any(sql.type(seatOfMonitor)`
    select monitor_id, probe_id from assignments
    where monitor_id = any (${sql.array(monitorIds, 'int4')}) and ended_at is null order by monitor_id, probe_id`);
  return writeSeats(
    tx,
    open.map((seat) => ({ operation, monitorId: seat.monitor_id, probeId: seat.probe_id })),
  );
}

/** Gives every open seat of a probe a new revision, because the probe was paused or resumed. */
export async function touchSeatsOfProbe(tx: Transaction, probeId: number): Promise<void> {
  // In a statement of its own: the seats must be read after the lock is held, else a seat that was closed meanwhile would get
  // a higher revision than the one that took its place.
  await tx.query(sql.unsafe`select id from probes where id = ${probeId} for no key update`);
  await tx.query(sql.unsafe`
    with numbered as (
      select id, row_number() over (order by id) as position from assignments
      where probe_id = ${probeId} and ended_at is null
    ), advanced as (
      update probes set assignment_revision = assignment_revision + (select count(*) from numbered)
      where id = ${probeId} returning assignment_revision
    )
    update assignments set revision = advanced.assignment_revision - (select count(*) from numbered) + numbered.position
    from numbered, advanced where assignments.id = numbered.id and ended_at is null`);
}

/** Probes that a workspace may use, with their load where there is something to choose. */
export async function loadCandidates(tx: CommonQueryMethods, workspaceId: number): Promise<ProbeCandidate[]> {
  const rows = await tx.any(sql.type(candidateRow)`
    with usable as (
      select id, workspace_id, region, capabilities, is_paused, offline_since is not null as is_lost,
        last_seen_at is not null as has_connected
      from probes where revoked_at is null and (workspace_id is null or workspace_id = ${workspaceId})
    )
    select usable.*, case when (select count(*) from usable) > ${defaultSeats}
      then (select count(*)::int from assignments where probe_id = usable.id and ended_at is null) else 0 end as load
    from usable order by id`);
  return rows.map(toCandidate);
}

export function toCandidate(row: z.infer<typeof candidateRow>): ProbeCandidate {
  return {
    id: row.id,
    region: row.region,
    capabilities: row.capabilities,
    isLost: row.is_lost,
    isPaused: row.is_paused,
    hasConnected: row.has_connected,
    load: row.load,
  };
}

/** Seats and, with the probe whose seat they fill, supplements. */
async function openRows(tx: Transaction, monitorId: number): Promise<readonly OpenRow[]> {
  return tx.any(sql.type(seatRow)`
    select probe_id, region, stands_in_for from assignments
    where monitor_id = ${monitorId} and ended_at is null order by probe_id`);
}

const assignmentRow = z.object({
  monitor_id: z.number(),
  revision: z.bigint(),
  is_wanted: z.boolean(),
  supplement: z.boolean(),
  probe_revision: z.number().nullable(),
  shard: z.number().nullable(),
  protocol: z.string().nullable(),
  url: z.string().nullable(),
  interval_seconds: z.number().nullable(),
  timeout_seconds: z.number().nullable(),
  confirmations: z.number().nullable(),
  degraded_threshold_ms: z.number().nullable(),
  settings: z.record(z.string(), z.unknown()).nullable(),
  sealed_secrets: z.instanceof(Buffer).nullable(),
  is_private_probe: z.boolean(),
  is_administrators: z.boolean().nullable(),
  private_targets: z.array(z.string()).nullable(),
});

/** What a query reads of `workspace` and its `owner` for `reachOf`. */
export const workspaceReachColumns = sql.fragment`
  owner.is_administrator and not workspace.was_handed_over as is_administrators, workspace.private_targets`;

/** What a row of `workspaceReachColumns` allows; nothing where there is none. */
export function reachOf(row: {
  readonly is_administrators: boolean | null;
  readonly private_targets: readonly string[] | null;
}): WorkspaceReach {
  return { isAdministrators: row.is_administrators === true, ranges: row.private_targets ?? [] };
}

const assignmentColumns = sql.fragment`
  seat.monitor_id, seat.revision, seat.supplement,
  coalesce(seat.ended_at is null and ${isActive} and monitor.deleted_at is null and not probe.is_paused, false)
    as is_wanted,
  monitor.probe_revision, monitor.shard, monitor.protocol, monitor.url, monitor.interval_seconds, monitor.timeout_seconds,
  monitor.confirmations, monitor.degraded_threshold_ms, monitor.settings, monitor.sealed_secrets,
  probe.workspace_id is not null as is_private_probe, reach.is_administrators, reach.private_targets`;

/** What the workspace of a monitor may reach. */
const reachOfMonitor = sql.fragment`
  left join lateral (
    select ${workspaceReachColumns} from workspaces workspace join users owner on owner.id = workspace.owner_id
    where workspace.id = monitor.workspace_id
  ) reach on true`;

/** What reads the log of assignments for a probe: the worker's pool, the sealer, and a place for complaints. */
export type AssignmentReader = {
  readonly pool: CommonQueryMethods;
  readonly sealer: Sealer;
  /** A monitor whose secrets do not open is left out and named here; the others go on. */
  readonly onUnreadable: (monitorId: number, error: unknown) => void;
  /** CIDRs that every workspace may reach although they are not public. */
  readonly everybodysTargets: readonly string[];
  /** False for an agent that would let its own list count for everybody: what is limited is withheld from it. */
  readonly obeysPrivateTargets: boolean;
};

/** Everything that a probe is to check, as of a revision. */
export type AssignmentSnapshot = {
  readonly revision: bigint;
  /** In ascending order of monitor. */
  readonly assignments: readonly Assignment[];
  readonly hash: Buffer;
};

/**
 * The whole set of a probe up to the revision that it had when the reading began. What changes while it is read has a higher
 * revision and is left out here: the delta from this revision brings it. So the pages need no common transaction.
 */
export async function snapshotFor(reader: AssignmentReader, probeId: number): Promise<AssignmentSnapshot> {
  const revision = await presentRevision(reader.pool, probeId);
  const assignments: Assignment[] = [];
  for (let after = 0; ; ) {
    const rows = await reader.pool.any(sql.type(assignmentRow)`
      select ${assignmentColumns}
      from assignments seat
        join probes probe on probe.id = seat.probe_id
        join monitors monitor on monitor.id = seat.monitor_id
        ${reachOfMonitor}
      where seat.probe_id = ${probeId} and seat.ended_at is null and seat.revision <= ${revision}
        and seat.monitor_id > ${after}
      order by seat.monitor_id limit ${assignmentsPerMessage}`);
    for (const row of rows) {
      const { monitorId, revision: rowRevision, configuration } = readRow(reader, row);
      if (configuration !== undefined) assignments.push({ monitorId, revision: rowRevision, ...configuration });
    }
    const last = rows.at(-1);
    if (rows.length < assignmentsPerMessage || last === undefined) break;
    after = last.monitor_id;
  }
  return { revision, assignments, hash: snapshotHash(assignments) };
}

/** Steps from a known revision, in order; `isComplete` when nothing above the last was there at the time. */
export type AssignmentDeltas = { readonly steps: readonly AssignmentStep[]; readonly isComplete: boolean };

/**
 * What changed for a probe above the revision that it knows, in order, at most `limit` rows. A seat that was closed, a monitor
 * that is paused or deleted, and a probe that is paused give removals.
 */
export async function deltaSince(
  reader: AssignmentReader,
  probeId: number,
  known: bigint,
  limit = assignmentsPerMessage,
): Promise<AssignmentDeltas> {
  const rows = await reader.pool.any(sql.type(assignmentRow)`
    select ${assignmentColumns}
    from assignments seat
      join probes probe on probe.id = seat.probe_id
      left join monitors monitor on monitor.id = seat.monitor_id
      ${reachOfMonitor}
    where seat.probe_id = ${probeId} and seat.revision > ${known}
    order by seat.revision limit ${limit}`);
  return { steps: toSteps(rows.map((row) => readRow(reader, row))), isComplete: rows.length < limit };
}

/** Highest revision that a probe's assignments have. */
export async function presentRevision(pool: CommonQueryMethods, probeId: number): Promise<bigint> {
  const row = await pool.one(sql.type(z.object({ assignment_revision: z.bigint() }))`
    select assignment_revision from probes where id = ${probeId}`);
  return row.assignment_revision;
}

function readRow(reader: AssignmentReader, row: z.infer<typeof assignmentRow>): AssignmentRow {
  return {
    monitorId: row.monitor_id,
    revision: row.revision,
    isWanted: row.is_wanted,
    configuration: row.is_wanted ? configurationOf(reader, row) : undefined,
  };
}

function configurationOf(
  reader: AssignmentReader,
  row: z.infer<typeof assignmentRow>,
): Omit<Assignment, 'monitorId' | 'revision'> | undefined {
  const privateTargets = probeTargets(reader.everybodysTargets, reachOf(row), { isPrivate: row.is_private_probe });
  if (!privateTargets.all && !reader.obeysPrivateTargets) return undefined;
  try {
    return {
      probeRevision: row.probe_revision ?? 1,
      shard: row.shard ?? 0,
      protocol: row.protocol ?? '',
      url: row.url ?? '',
      intervalSeconds: row.interval_seconds ?? 0,
      timeoutSeconds: row.timeout_seconds ?? 0,
      confirmations: row.confirmations ?? 0,
      degradedThresholdMs: row.degraded_threshold_ms ?? 0,
      settingsJson: settingsWithSecrets(reader.sealer, row),
      supplement: row.supplement,
      privateTargets,
    };
  } catch (error) {
    reader.onUnreadable(row.monitor_id, error);
    return undefined;
  }
}

/** The context that seals the secret settings of a monitor. */
export function secretsContext(monitorId: number): string {
  return `monitor ${monitorId} secrets`;
}

function settingsWithSecrets(sealer: Sealer, row: z.infer<typeof assignmentRow>): Buffer {
  const settings = row.settings ?? {};
  if (row.sealed_secrets === null) return Buffer.from(JSON.stringify(settings));
  const secrets: unknown = JSON.parse(sealer.open(row.sealed_secrets, secretsContext(row.monitor_id)).toString('utf8'));
  return Buffer.from(JSON.stringify(Object.assign({}, settings, secrets)));
}
