import type pg from 'pg';
import type { Sealer } from '../../platform/crypto/seal.ts';
import { reachOf, secretsContext } from '../assignments/index.ts';
import type { WorkspaceReach } from '../assignments/index.ts';
import type { ProbeReport } from './reporting.ts';

/** What a check needs of a monitor; `settings` hold its secrets. */
export type CheckedMonitor = {
  readonly protocol: string;
  readonly url: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly timeoutS: number;
  readonly degradedThresholdMs: number | undefined;
  /** Needed where other monitors of the workspace are what is looked at. */
  readonly workspaceId?: number | undefined;
  /** Private probes check it, or were named for it: its private addresses are theirs and not the control plane's. */
  readonly isOfPrivateProbes?: boolean | undefined;
  /** What its workspace may reach; no more than everybody's when absent. */
  readonly reach?: WorkspaceReach | undefined;
};

/** A monitor as it is read for its scheduled checks. */
export type CentralTarget = CheckedMonitor & { readonly probeRevision: number };

/** What reads may go through. */
export type Reader = Pick<pg.Pool, 'query'>;

type TargetRow = {
  id: number;
  workspace_id: number;
  protocol: string;
  url: string;
  settings: Record<string, unknown>;
  sealed_secrets: Buffer | null;
  timeout_seconds: number;
  degraded_threshold_ms: number | null;
  probe_revision: number;
  is_of_private_probes: boolean;
  is_administrators: boolean;
  private_targets: string[];
};

/**
 * Reads what is checked of many monitors in one query; deleted ones are left out, and those whose secrets do not open, which are named
 * to `onUnreadable`.
 */
export async function readTargets(
  reader: Reader,
  sealer: Sealer,
  monitorIds: readonly number[],
  onUnreadable: (monitorId: number, error: unknown) => void,
): Promise<Map<number, CentralTarget>> {
  const found = await reader.query<TargetRow>({
    name: 'central-targets',
    text: `select m.id, m.workspace_id, m.protocol, m.url, m.settings, m.sealed_secrets, m.timeout_seconds, m.degraded_threshold_ms,
        m.probe_revision, exists (
          select from probes p where p.workspace_id is not null and (p.id = any (m.wanted_probe_ids) or p.id in (
            select a.probe_id from assignments a where a.monitor_id = m.id and a.ended_at is null))) as is_of_private_probes,
        owner.is_administrator and not workspace.was_handed_over as is_administrators, workspace.private_targets
      from monitors m join workspaces workspace on workspace.id = m.workspace_id join users owner on owner.id = workspace.owner_id
      where m.id = any ($1::integer[]) and m.deleted_at is null`,
    values: [monitorIds],
  });
  const targets = new Map<number, CentralTarget>();
  for (const row of found.rows) {
    try {
      targets.set(row.id, {
        protocol: row.protocol,
        url: row.url,
        settings: { ...row.settings, ...secretsOf(sealer, row) },
        timeoutS: row.timeout_seconds,
        degradedThresholdMs: row.degraded_threshold_ms ?? undefined,
        workspaceId: row.workspace_id,
        probeRevision: row.probe_revision,
        isOfPrivateProbes: row.is_of_private_probes,
        reach: reachOf(row),
      });
    } catch (error) {
      onUnreadable(row.id, error);
    }
  }
  return targets;
}

function secretsOf(sealer: Sealer, row: TargetRow): Record<string, unknown> {
  if (row.sealed_secrets === null) return {};
  return JSON.parse(sealer.open(row.sealed_secrets, secretsContext(row.id)).toString('utf8')) as Record<
    string,
    unknown
  >;
}

/** An open session of a probe. */
export type ProbeSession = ProbeReport & {
  readonly probeId: number;
  /** The control-plane process that holds it. */
  readonly replica: string;
  readonly remoteAddress: string | undefined;
};

/** All open sessions, of some thousand probes at most. */
export async function readSessions(reader: Reader): Promise<ProbeSession[]> {
  const found = await reader.query<{
    probe_id: number;
    replica: string;
    remote_address: string | null;
    opened_ms: string;
    heard_ms: string;
    oldest_unacknowledged_ms: string;
    is_paused: boolean;
  }>({
    name: 'central-sessions',
    text: `select s.probe_id, s.replica, s.remote_address, s.oldest_unacknowledged_ms, p.is_paused,
        extract(epoch from s.opened_at) * 1000 as opened_ms, extract(epoch from s.last_heartbeat_at) * 1000 as heard_ms
      from probe_sessions s join probes p on p.id = s.probe_id where s.closed_at is null`,
  });
  return found.rows.map((row) => ({
    probeId: row.probe_id,
    replica: row.replica,
    remoteAddress: row.remote_address ?? undefined,
    openedMs: Number(row.opened_ms),
    heardMs: Number(row.heard_ms),
    oldestUnacknowledgedMs: Number(row.oldest_unacknowledged_ms),
    isPaused: row.is_paused,
  }));
}
