import { z } from 'zod';

const instant = z.iso.datetime({ offset: true });

/** Payload of the outbox kind `monitor.transition`: a change of a monitor's current status. */
export const transitionSchema = z.object({
  monitor_id: z.number().int(),
  workspace_id: z.number().int(),
  from: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN']),
  to: z.enum(['UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN']),
  /** Effective time: since when the new status holds. */
  at: instant,
  /** When it was noticed. */
  detected_at: instant,
  evidence: z
    .record(z.string(), z.unknown())
    .nullable()
    .transform((evidence) => evidence ?? {}),
  /** Start of the status range that the new status belongs to; null when it leaves a gap. */
  range_started_at: instant.nullish(),
});
export type Transition = z.infer<typeof transitionSchema>;

/** Payload of `monitor.paused`. */
export const pausedSchema = z.object({ monitor_id: z.number().int(), workspace_id: z.number().int(), at: instant });

/** What the monitor is now, as far as an incident cares. */
export type MonitorState = { readonly name: string; readonly isPaused: boolean; readonly isDeleted: boolean };

/** The open incident of the monitor, as far as a transition cares. */
export type OpenIncident = { readonly startedMs: number };

/** Its latest incident that ended by itself. */
export type EndedIncident = { readonly id: number; readonly startedMs: number; readonly resolvedMs: number };

export type Decision =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'open';
      readonly startedMs: number;
      readonly title: string;
      readonly cause: { readonly status: 'DOWN' | 'TIMEOUT'; readonly evidence: Readonly<Record<string, unknown>> };
    }
  /** It had not ended: the outage that is told began before it was resolved. */
  | { readonly kind: 'reopen'; readonly incidentId: number; readonly startedMs: number }
  /** The onset turned out to be earlier; the incident keeps its identifier. */
  | { readonly kind: 'move_onset'; readonly startedMs: number }
  | { readonly kind: 'resolve'; readonly resolution: 'auto' | 'corrected'; readonly atMs: number };

/**
 * What a change of status means for the monitor's incident. DOWN and TIMEOUT open one, which then stays through PARTIAL and
 * UNKNOWN and ends on UP, WARNING or DEGRADED. A status that is told is of the present, so an outage that it begins wakes people whenever it
 * began; what is of the past comes as a revision. Nothing is opened for a monitor that was deleted or paused in the meantime.
 */
export function decideIncident(
  transition: Transition,
  monitor: MonitorState,
  open: OpenIncident | undefined,
  ended?: EndedIncident,
): Decision {
  const { to } = transition;
  switch (to) {
    case 'DOWN':
    case 'TIMEOUT': {
      const startedMs = Math.min(Date.parse(transition.at), Date.parse(transition.range_started_at ?? transition.at));
      if (open !== undefined) {
        return startedMs < open.startedMs ? { kind: 'move_onset', startedMs } : { kind: 'nothing' };
      }
      if (monitor.isDeleted || monitor.isPaused) return { kind: 'nothing' };
      if (ended !== undefined && startedMs < ended.resolvedMs)
        return { kind: 'reopen', incidentId: ended.id, startedMs: Math.min(startedMs, ended.startedMs) };
      return {
        kind: 'open',
        startedMs,
        title: titleOf(monitor.name, to),
        cause: { status: to, evidence: transition.evidence },
      };
    }
    case 'UP':
    case 'WARNING':
    case 'DEGRADED': {
      if (open === undefined) return { kind: 'nothing' };
      const atMs = Date.parse(transition.at);
      // It was good all the time: what was told was false.
      if (atMs <= open.startedMs)
        return { kind: 'resolve', resolution: 'corrected', atMs: Date.parse(transition.detected_at) };
      return { kind: 'resolve', resolution: 'auto', atMs };
    }
    case 'PARTIAL':
    case 'UNKNOWN':
      return { kind: 'nothing' };
  }
}

const maxTitle = 200;

/** "<name> is down", at most 200 characters: a long name is cut, what happened is not. */
export function titleOf(name: string, status: 'DOWN' | 'TIMEOUT'): string {
  const what = status === 'DOWN' ? ' is down' : ' does not answer in time';
  const characters = Array.from(name);
  const room = maxTitle - what.length;
  return (characters.length > room ? `${characters.slice(0, room - 1).join('')}…` : name) + what;
}
