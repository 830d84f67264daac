import type { DispatchPosition } from '../../../control-plane/src/monitoring/probes/dispatch-messages.ts';
import type {
  OpenedSession,
  PolledSession,
  PresentedIdentity,
} from '../../../control-plane/src/monitoring/probes/sessions/queries.ts';
import { current } from '../engine/current.ts';

/* What the sessions of probes ask of the database, on the modelled one. Lost probes are no part of the model: seats change by the plan of the world. */

export const lostAfterSeconds = 45;

type Pool = unknown;

export function openSession(_pool: Pool, { probeId }: PresentedIdentity): Promise<OpenedSession | undefined> {
  const { database } = current();
  return database.ask(() => {
    const probe = database.configuration.probes.get(probeId);
    if (probe === undefined) return undefined;
    const sessionId = database.openSession(probeId);
    return {
      sessionId,
      name: `probe ${probeId}`,
      region: probe.region,
      signingPublicKey: Buffer.from(probe.publicKey),
      isPrivate: false,
    };
  });
}

export async function closeSession(_pool: Pool, sessionId: number): Promise<void> {
  const { database } = current();
  await database.ask(() => database.closeSession(sessionId));
}

export async function writeReports(
  _pool: Pool,
  reports: readonly { readonly sessionId: number; readonly oldestUnacknowledgedMs: number; readonly idleMs: number }[],
): Promise<void> {
  if (reports.length === 0) return;
  const { database, engine } = current();
  await database.ask(() => {
    for (const { sessionId, oldestUnacknowledgedMs, idleMs } of reports)
      database.report(sessionId, { oldestUnacknowledgedMs, heardUs: engine.nowUs - idleMs * 1_000 });
  });
}

export function probeStates(_pool: Pool, sessions: readonly PolledSession[]) {
  const { database } = current();
  return database.ask(() =>
    sessions.flatMap(({ probeId }) => {
      const probe = database.configuration.probes.get(probeId);
      if (probe === undefined) return [];
      const open = database.sessionOf(probeId);
      return [
        {
          id: probeId,
          name: `probe ${probeId}`,
          region: probe.region,
          assignment_revision: probe.revision,
          is_revoked: false,
          open_session: open === undefined ? null : BigInt(open),
        },
      ];
    }),
  );
}

export function committedCursors(
  _pool: Pool,
  sessions: readonly PolledSession[],
): Promise<Map<number, DispatchPosition[]>> {
  const { database } = current();
  return database.ask(() => {
    const oldest = new Map(sessions.map(({ probeId, oldestEpoch }) => [probeId, Number(oldestEpoch)]));
    const known = [...database.results.cursors.values()].filter(
      ({ probeId, epoch }) => epoch >= (oldest.get(probeId) ?? Number.POSITIVE_INFINITY),
    );
    return Map.groupBy(
      known.map(({ probeId, epoch, shard, seq }) => ({ probeId, epoch, shard, seq })),
      ({ probeId }) => probeId,
    );
  });
}

export async function noticeLostProbes(): Promise<readonly { id: number; name: string }[]> {
  return [];
}
