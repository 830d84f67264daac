import type { Transition } from './transition.ts';

/**
 * Whether a transition tells of what a reset of the monitor's statistics has made void: it began before the reset, or rests on votes that
 * did. The ingest learns of a reset within a second or so, and what it told until then may come after it.
 * @param resetMs the monitor's last reset, milliseconds since the epoch; null for none
 */
export function isVoidByReset(transition: Pick<Transition, 'at' | 'evidence'>, resetMs: number | null): boolean {
  if (resetMs === null) return false;
  return Date.parse(transition.at) < resetMs || votesSinceUs(transition.evidence).some((us) => us < resetMs * 1_000);
}

/** Since when the voters of the evidence voted so; whatever is no such time is left out. */
function votesSinceUs(evidence: Readonly<Record<string, unknown>>): number[] {
  const { voters } = evidence;
  if (!Array.isArray(voters)) return [];
  return voters.flatMap((vote: unknown) => {
    const since = typeof vote === 'object' && vote !== null ? (vote as { sinceUs?: unknown }).sinceUs : undefined;
    return typeof since === 'number' ? [since] : [];
  });
}
