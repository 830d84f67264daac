import { onsetsOf } from '../../../monitoring/status-ranges/index.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { isOtherCause } from '../changed-cause.ts';
import { windowOf } from '../folding/fold.ts';
import { begin, causeKeysOf } from '../gateway.ts';
import type { Beginning } from '../gateway.ts';
import { nameMemberIncidents } from '../members/of-groups/queries.ts';
import { appendCause, endMembers, knownOutagesOf, moveOnset, reopenMember } from '../members/queries.ts';
import type { KnownOutages, StoredCause } from '../members/queries.ts';
import { lockMonitors } from '../monitors/queries.ts';
import type { LockedMonitor } from '../monitors/queries.ts';
import { isVoidByReset } from '../reset.ts';
import { incidentsOfCauses, lockRows, settleIncidents } from '../state/queries.ts';
import { ofMonitor } from '../subject.ts';
import { decideIncident, transitionSchema } from '../transition.ts';
import type { Decision, Transition } from '../transition.ts';

/** A change of a monitor's status, with what is known of the monitor and what follows of it. */
type Turn = {
  readonly transition: Transition;
  readonly monitor: LockedMonitor;
  readonly known: KnownOutages;
  readonly decision: Decision;
};
type Turned<Kind extends Decision['kind']> = Turn & { readonly decision: Extract<Decision, { readonly kind: Kind }> };

/**
 * Opens and resolves incidents as monitors change: many changes of different monitors in a handful of statements, however many fail or recover at once.
 * @throws when a payload is none, or somebody else was faster
 */
export async function onTransitions(
  transaction: Transaction,
  payloads: readonly unknown[],
  nowMs: number,
): Promise<void> {
  const turns = await turnsOf(
    transaction,
    payloads.map((payload) => transitionSchema.parse(payload)),
  );
  const opening = turns.filter((turn): turn is Turned<'open'> => turn.decision.kind === 'open');
  const beginnings = await beginningsOf(transaction, opening);
  await lockTouched(transaction, turns, beginnings);
  const changed = [
    ...(await end(transaction, turns)),
    ...(await redate(transaction, turns)),
    ...(await noteCauses(transaction, turns)),
  ];
  await settleIncidents(transaction, changed, nowMs);
  await begin(transaction, beginnings, nowMs);
  const failing = turns.filter(({ decision }) => decision.kind === 'open' || decision.kind === 'reopen');
  await nameMemberIncidents(
    transaction,
    failing.map(({ transition }) => transition.monitor_id),
  );
}

const noOutages: KnownOutages = { open: undefined, ended: undefined };

async function turnsOf(transaction: Transaction, told: readonly Transition[]): Promise<Turn[]> {
  const monitors = await lockMonitors(
    transaction,
    told.map(({ monitor_id: id }) => id),
  );
  const valid = told.flatMap((transition) => {
    const monitor = monitors.get(transition.monitor_id);
    return monitor === undefined || isVoidByReset(transition, monitor.resetMs) ? [] : { transition, monitor };
  });
  const known = await knownOutagesOf(
    transaction,
    'monitor',
    valid.map(({ transition }) => transition.monitor_id),
  );
  const onsets = await onsetsOf(transaction, startsOf(valid.map(({ transition }) => transition)));
  return valid.map(({ transition, monitor }) => {
    const own = known.get(transition.monitor_id) ?? noOutages;
    const onsetMs = onsets.get(transition.monitor_id);
    const since = onsetMs === undefined ? {} : { range_started_at: iso(onsetMs) };
    const dated = { ...transition, ...since };
    return { transition: dated, monitor, known: own, decision: decideIncident(dated, monitor, own.open, own.ended) };
  });
}

/** An outage that was TIMEOUT before it was DOWN, or the other way, began with the first of its ranges. */
function startsOf(transitions: readonly Transition[]): ReadonlyMap<number, number> {
  return new Map(
    transitions.flatMap(({ monitor_id: id, to, range_started_at: startedAt }) =>
      isFailing(to) && startedAt != null ? [[id, Date.parse(startedAt)] as const] : [],
    ),
  );
}

async function beginningsOf(transaction: Transaction, opening: readonly Turned<'open'>[]): Promise<Beginning[]> {
  const keys = await causeKeysOf(
    transaction,
    opening.map(({ transition, decision }) => ({
      monitorId: transition.monitor_id,
      startedMs: decision.startedMs,
      evidence: decision.cause.evidence,
    })),
  );
  return opening.map(({ transition, monitor, decision: { cause, startedMs, title } }) => ({
    subject: ofMonitor(transition.monitor_id),
    workspaceId: monitor.workspaceId,
    name: monitor.name,
    title,
    startedMs,
    windowMs: windowOf(monitor.intervalSeconds),
    key: keys.get(transition.monitor_id) ?? null,
    isUrgent: false,
    cause: { at: iso(startedMs), ...cause },
  }));
}

/** Locks all incidents that these changes may touch, at once and in the order in which all lock them: else two rounds could wait for one another. */
async function lockTouched(
  transaction: Transaction,
  turns: readonly Turn[],
  beginnings: readonly Beginning[],
): Promise<void> {
  const ofCauses = await incidentsOfCauses(
    transaction,
    beginnings.flatMap(({ key, subject: of, ...rest }) => (key === null ? [] : { ...rest, key, of })),
  );
  const open = turns.flatMap(({ known }) => known.open?.incidentId ?? []);
  await lockRows(transaction, [...new Set([...ofCauses.keys(), ...open])]);
}

function end(transaction: Transaction, turns: readonly Turn[]): Promise<readonly number[]> {
  const ending = turns.filter((turn): turn is Turned<'resolve'> => turn.decision.kind === 'resolve');
  return endMembers(
    transaction,
    ending.map(({ transition, decision: { resolution, atMs } }) => ({
      subject: ofMonitor(transition.monitor_id),
      resolution,
      atMs,
    })),
  );
}

/** Outages that turned out not to have ended, or to have begun earlier: late results are few. */
async function redate(transaction: Transaction, turns: readonly Turn[]): Promise<readonly number[]> {
  const changed: (number | null)[] = [];
  for (const { transition, decision } of turns) {
    if (decision.kind === 'reopen') {
      changed.push(await reopenMember(transaction, decision.incidentId, decision.startedMs));
    } else if (decision.kind === 'move_onset') {
      changed.push(await moveOnset(transaction, ofMonitor(transition.monitor_id), decision.startedMs));
    }
  }
  return changed.filter((id) => id !== null);
}

/** Appends what lasting outages changed to. @returns their incidents */
async function noteCauses(transaction: Transaction, turns: readonly Turn[]): Promise<readonly number[]> {
  const changed: number[] = [];
  for (const { transition, known } of turns) {
    const { to, at, evidence } = transition;
    if (known.open === undefined || !isFailing(to)) continue;
    const cause: StoredCause = { at: iso(Date.parse(at)), status: to, evidence };
    if (!isOtherCause(known.open.causes, cause)) continue;
    await appendCause(transaction, known.open.memberId, cause);
    changed.push(known.open.incidentId);
  }
  return changed;
}

const isFailing = (status: Transition['to']): status is 'DOWN' | 'TIMEOUT' => status === 'DOWN' || status === 'TIMEOUT';

const iso = (ms: number): string => new Date(ms).toISOString();
