import { z } from 'zod';
import { beginning, occasionTitle } from '../change.ts';
import { endOccasions, workspacesOfProbes, writeChanges } from '../queries.ts';
import type { Ending } from '../queries.ts';
import type { Work } from '../work.ts';

const ofProbe = z.looseObject({
  probe_id: z.number().int(),
  name: z.string(),
  region: z.string(),
  reason: z.string().optional(),
});

/** Tenants are told of their own probes; those of the installation are watched by whoever runs it. */
export function onProbe(what: 'offline' | 'quarantined'): Work {
  return async (transaction, rows, nowMs) => {
    const told = rows.map((row) => ({ ...ofProbe.parse(row.payload), row }));
    const workspaces = await workspacesOfProbes(
      transaction,
      told.map(({ probe_id: id }) => id),
    );
    const begun = told.flatMap(({ probe_id: id, name, region, reason, row }) => {
      const workspaceId = workspaces.get(id);
      if (workspaceId === undefined) return [];
      return beginning({
        workspaceId,
        key: `probe:${id}:${row.id}`,
        event: `probe.${what}`,
        subject: { type: 'probe', id },
        title: occasionTitle(name, what === 'offline' ? 'is offline' : 'is in quarantine'),
        facts: { name, region, ...(reason === undefined ? {} : { reason }) },
        severity: 'major',
        startedMs: row.createdAtMs,
      });
    });
    await writeChanges(transaction, begun, nowMs);
  };
}

export function onProbeEnd(what: 'offline' | 'quarantined'): Work {
  return async (transaction, rows, nowMs) => {
    const endings = rows.map((row): Ending => {
      const { probe_id: id } = ofProbe.parse(row.payload);
      return { subject: { type: 'probe', id }, events: [`probe.${what}`], atMs: row.createdAtMs, resolution: 'auto' };
    });
    await endOccasions(transaction, endings, nowMs);
  };
}
