import { packFlags } from '@parallax/wire';
import type { RecheckWish } from '../../consensus/index.ts';
import { CentralDesk } from '../../central-checks/index.ts';
import type { CentralLease, CentralResult, CentralRunner, DeskMonitor } from '../../central-checks/index.ts';
import { centralFlag, fallbackFlag } from '../flags.ts';
import type { TakenRound } from './fold.ts';
import type { ShardMemory } from './memory.ts';
import type { ShardMonitor } from './queries.ts';
import type { IngestRow } from './rows.ts';

export type CentralPartOptions = {
  readonly runner: CentralRunner;
  /** How long the first result of a round waits for others. */
  readonly lingerMs: number;
  /** How long after the start of the owner no fallback begins: probes may not have come back to this control plane yet (rule 16). */
  readonly graceMs: number;
  readonly nowUs: () => number;
  readonly onNews: () => void;
};

/** The control plane as a vantage point, seen from the owner of a shard: what it checks is decided here, its results go into the rounds. */
export type CentralPart = {
  /** Results since the last round, as rows of voter 0. */
  readonly rows: (memory: ShardMemory) => readonly IngestRow[];
  /** Monotonic time at which what waits makes a round; infinity when nothing waits. */
  readonly dueMs: () => number;
  /** A round is folded: what is checked follows from who holds votes now. */
  readonly follow: (round: Pick<TakenRound, 'rechecks' | 'standings'>, memory: ShardMemory) => void;
  /** Begins fallbacks that are due. @param isHeld the owner reads a backlog: nobody's silence counts yet */
  readonly begin: (isHeld: boolean) => void;
  readonly close: () => void;
};

export function openCentralPart(options: CentralPartOptions): CentralPart {
  const { nowUs } = options;
  const startedMs = performance.now();
  const desk = new CentralDesk();
  let dueMs = Number.POSITIVE_INFINITY;
  const lease: CentralLease = options.runner.open((isUrgent) => {
    const now = performance.now();
    dueMs = Math.min(dueMs, isUrgent ? now : now + options.lingerMs);
    options.onNews();
  });
  return {
    dueMs: () => dueMs,
    rows: (memory) => {
      dueMs = Number.POSITIVE_INFINITY;
      return lease.take().flatMap((result) => {
        const monitor = memory.monitors.get(result.monitorId);
        if (monitor === undefined || monitor.isDeleted) return [];
        const isVoid = monitor.inputs.resetUs !== null && result.effectiveUs < monitor.inputs.resetUs;
        return isVoid ? [] : [rowOf(result, nowUs())];
      });
    },
    follow: ({ rechecks, standings }, memory) => {
      for (const { monitorId, standing } of standings) {
        const monitor = memory.monitors.get(monitorId);
        if (monitor !== undefined) desk.tell(deskMonitor(monitor), standing);
      }
      desk.settled();
      lease.order(desk.take());
      lease.ask(askedOf(rechecks));
    },
    begin: (isHeld) => {
      if (isHeld || desk.nextStartUs > nowUs()) return;
      const facts = lease.facts();
      if (facts === undefined) return;
      const isSettled = performance.now() - startedMs >= options.graceMs;
      desk.start(nowUs(), { ...facts, mayStart: facts.mayStart && isSettled });
      lease.order(desk.take());
    },
    close: () => lease.close(),
  };
}

/** Monitors that voter 0 is asked to check. */
export function askedOf(rechecks: readonly RecheckWish[]): number[] {
  return [...new Set(rechecks.filter(({ voters }) => voters.includes(0)).map(({ monitorId }) => monitorId))];
}

function deskMonitor(monitor: ShardMonitor): DeskMonitor {
  const { monitorId, intervalS, timeoutS, confirmations, changedXid } = monitor;
  return { monitorId, intervalS, timeoutS, confirmations, version: changedXid };
}

function rowOf(result: CentralResult, nowUs: number): IngestRow {
  const origin = centralFlag | (result.isFallback ? fallbackFlag : 0);
  return {
    // Never later than the receipt.
    eUs: Math.min(result.effectiveUs, nowUs - 1),
    voter: 0,
    kind: result.kind,
    outcome: result.outcome,
    error: result.error,
    freshS: result.freshS,
    probeRevision: result.probeRevision,
    receivedUs: nowUs,
    monitorId: result.monitorId,
    flags: packFlags(result.kind, result.outcome, result.source) | origin,
    totalUs: result.totalUs,
    dnsUs: result.dnsUs,
    connectUs: result.connectUs,
    tlsUs: result.tlsUs,
    firstByteUs: result.firstByteUs,
    transferUs: result.transferUs,
    evidence: result.evidence,
  };
}
