import { z } from 'zod';

const instant = z.iso.datetime({ offset: true });
const failingVotes = new Set(['DOWN', 'TIMEOUT']);

/** Payload of the outbox kind `monitor.transition`, as far as a diagnosis cares. */
const transitionSchema = z.object({
  monitor_id: z.number().int(),
  workspace_id: z.number().int(),
  to: z.string(),
  /** Effective time: since when the new status holds. */
  at: instant,
  evidence: z.object({ voters: z.array(z.object({ voter: z.number().int(), vote: z.string() })) }).nullable(),
});

/** A disagreement that is worth a look: of which monitor, since when. */
export type Wanted = { readonly monitorId: number; readonly workspaceId: number; readonly sinceMs: number };

/**
 * Whether a change of a monitor's status asks for a diagnosis: it has become PARTIAL by the votes of probes that differ. The control
 * plane's own vote counts as neither side.
 * @throws when the payload is no transition
 */
export function wantedBy(payload: unknown): Wanted | undefined {
  const { monitor_id: monitorId, workspace_id: workspaceId, to, at, evidence } = transitionSchema.parse(payload);
  if (to !== 'PARTIAL') return undefined;
  const probes = (evidence?.voters ?? []).filter(({ voter }) => voter !== 0);
  const failing = probes.filter(({ vote }) => failingVotes.has(vote)).length;
  return failing === 0 || failing === probes.length ? undefined : { monitorId, workspaceId, sinceMs: Date.parse(at) };
}
