import type { Alert, AlertTarget } from '../alert.ts';
import { decide } from './decide.ts';
import type { Decided, Occasion, Told } from './occasion.ts';
import { prepareAlert } from './wants.ts';

/** For tests: the key of a target is its address. */
export const keyOf = (_: number, target: AlertTarget): string => target.target;

/** For tests: a target. */
export const target = (name: string): AlertTarget => ({
  channel: 'email',
  config_id: null,
  target: name,
  locale: 'en',
  timezone: 'UTC',
});

/** For tests: an alert for all outages, which tells one target at once. */
export function alert(more: Partial<Alert> = {}): Alert {
  return {
    id: 1,
    workspaceId: 1,
    ownerId: 1,
    name: 'all',
    scope: {
      all: true,
      tags: [],
      monitorIds: new Set(),
      groupIds: new Set(),
      heartbeatIds: new Set(),
      webhookCheckIds: new Set(),
    },
    events: new Set(['monitor.down']),
    steps: [{ after_seconds: 0, targets: [target('a')] }],
    failover: null,
    minDurationSeconds: 0,
    reminderIntervalSeconds: null,
    quietHours: null,
    mutedUntilMs: null,
    notifyOnRecovery: true,
    activeSinceMs: 0,
    ...more,
  };
}

/** For tests: an outage of monitor 7 that begins. */
export function occasion(startedMs: number, more: Partial<Occasion> = {}): Occasion {
  return {
    event: 'incident.opened',
    severity: 'major',
    isLasting: true,
    startedMs,
    openedMs: startedMs,
    endedMs: null,
    resolution: null,
    isAcknowledged: false,
    problemSeq: 1,
    seq: 1,
    pending: [{ seq: 1, kind: 'opened', reason: null }],
    subjects: [{ type: 'monitor', id: 7, event: 'monitor.down', tags: ['db'], groupIds: [3] }],
    isUnderMaintenance: false,
    isFlapping: false,
    isObsolete: false,
    ...more,
  };
}

/** A notification that was queued, and when. */
export type Queued = Decided & { readonly atMs: number };

/** For tests: one occasion and its alerts over time, as planner and sender treat them. Messages arrive after `latencyMs`. */
export class World {
  nowMs: number;
  occasion: Occasion;
  alerts: readonly Alert[];
  latencyMs: number;
  /** What arrives, or is on its way. */
  readonly queued: Queued[] = [];
  readonly held = new Map<string, Decided>();
  readonly told = new Map<string, Told>();
  readonly keys = new Set<string>();
  readonly withdrawn: Queued[] = [];
  unusable = new Set<string>();
  lookAtMs: number | null;

  constructor(first: Occasion, alerts: readonly Alert[], latencyMs = 0) {
    this.nowMs = first.openedMs;
    this.occasion = first;
    this.alerts = alerts;
    this.latencyMs = latencyMs;
    this.lookAtMs = this.nowMs;
  }

  /** Decides now. */
  look(): void {
    this.#arrive();
    const prepared = this.alerts.map((each) => prepareAlert(each, keyOf));
    const decision = decide(
      this.occasion,
      prepared,
      this.told,
      {
        isUsable: (ownerId, each) => !this.unusable.has(each.target) && !this.unusable.has(`${ownerId} ${each.target}`),
        keepsOpen: () => false,
        isWithdrawable: (key) => this.told.get(key)?.sentMs === null,
      },
      this.nowMs,
    );
    for (const each of decision.notifications) {
      const key = `${each.targetKey} ${each.kind} ${each.seq}`;
      if (each.status === 'deduplicated') continue;
      if (this.keys.has(key)) throw new Error(`${key} is told twice`);
      if (each.status === 'held') {
        this.held.set(key, each);
        continue;
      }
      this.held.delete(key);
      this.keys.add(key);
      if (each.status === 'queued') this.queued.push({ ...each, atMs: this.nowMs });
    }
    for (const [targetKey, mode] of decision.withdrawn) this.#withdraw(targetKey, mode, decision.notifications);
    for (const [key, told] of decision.told) this.told.set(key, told);
    this.occasion = { ...this.occasion, pending: decision.pending };
    this.lookAtMs = decision.lookAtMs;
    this.#arrive();
  }

  /** Lets time pass, looking whenever it is due. */
  passTo(untilMs: number): void {
    for (let looks = 0; this.lookAtMs !== null && this.lookAtMs <= untilMs; looks += 1) {
      if (looks > 20_000) throw new Error('it is looked at again and again');
      this.nowMs = Math.max(this.nowMs, this.lookAtMs);
      const before = this.lookAtMs;
      this.look();
      // The planner never comes back within the same millisecond.
      if (this.lookAtMs !== null && this.lookAtMs <= before) this.lookAtMs = before + 1;
    }
    this.nowMs = Math.max(this.nowMs, untilMs);
    this.#arrive();
  }

  /** Something changes at this instant. */
  change(kind: 'updated' | 'acknowledged' | 'resolved' | 'reopened' | 'recovered', reason: string | null = null): void {
    const seq = this.occasion.seq + 1;
    const change = {
      seq,
      kind: kind === 'reopened' ? ('updated' as const) : kind,
      reason: kind === 'reopened' ? kind : reason,
    };
    this.occasion = {
      ...this.occasion,
      seq,
      pending: [...this.occasion.pending, change],
      ...(kind === 'acknowledged' ? { isAcknowledged: true } : {}),
      ...(kind === 'resolved' ? { endedMs: this.nowMs, resolution: reason ?? 'auto' } : {}),
      ...(kind === 'reopened'
        ? { endedMs: null, resolution: null, problemSeq: seq, openedMs: this.nowMs, isAcknowledged: false }
        : {}),
    };
    this.lookAtMs = this.nowMs;
  }

  /** What a target got, with when. */
  heard(name: string): readonly (readonly [kind: string, atMs: number])[] {
    return this.queued.filter(({ targetKey }) => targetKey === name).map(({ kind, atMs }) => [kind, atMs]);
  }

  #arrive(): void {
    for (const each of this.queued) {
      const told = this.told.get(each.targetKey);
      if (told?.sentMs !== null || told.state !== 'problem' || each.atMs + this.latencyMs > this.nowMs) continue;
      this.told.set(each.targetKey, { ...told, sentMs: each.atMs + this.latencyMs });
    }
  }

  #withdraw(targetKey: string, mode: 'held' | 'unsent', decided: readonly Decided[]): void {
    const isNew = (each: Decided): boolean =>
      decided.some((one) => one.targetKey === targetKey && one.kind === each.kind && one.seq === each.seq);
    for (const [key, each] of this.held) if (each.targetKey === targetKey && !isNew(each)) this.held.delete(key);
    if (mode === 'held') return;
    for (const each of this.queued.filter((one) => one.targetKey === targetKey && !isNew(one))) {
      if (each.kind !== 'opened' && each.kind !== 'escalated') continue;
      if (each.atMs + this.latencyMs <= this.nowMs) continue;
      this.queued.splice(this.queued.indexOf(each), 1);
      this.withdrawn.push(each);
    }
  }
}
