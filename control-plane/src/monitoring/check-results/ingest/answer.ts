import type { Logger } from '@parallax/telemetry';
import type { Bus } from '../../../platform/bus/bus.ts';
import { dispatchSubject, outboxSubject } from '../../../platform/bus/subjects.ts';
import type { RecheckWish } from '../../consensus/index.ts';
import type { Changes, Intake, Position } from './round.ts';
import { cursorKey } from './trim.ts';

/** A probe that misses something sends a window of batches, each of which shows the gap: it is told once in this time. */
const resendEveryMs = 2_000;

export type Answerer = {
  /** After the commit of a round: the broker may forget its messages, the probes may free their logs. */
  readonly answer: (round: {
    readonly intake: Intake;
    readonly changes: Changes;
    readonly rechecks: readonly RecheckWish[];
  }) => void;
};

/** Hints may get lost: dispatchers also read the cursors every 500 ms, and a probe sends again what is not acknowledged in 60 s. */
export function createAnswerer(options: { readonly shard: number; readonly bus: Bus; readonly log: Logger }): Answerer {
  const { shard, bus, log } = options;
  const resent = new Map<string, { readonly seq: number; readonly atMs: number }>();

  function askAgain(gaps: readonly Position[]): void {
    const nowMs = performance.now();
    for (const gap of gaps) {
      const key = cursorKey(gap);
      const last = resent.get(key);
      if (last !== undefined && last.seq === gap.seq && nowMs - last.atMs < resendEveryMs) continue;
      resent.set(key, { seq: gap.seq, atMs: nowMs });
      log.info(
        { probe_id: gap.probeId, epoch: gap.epoch, shard, seq: gap.seq },
        'results are missing; asking the probe to send again',
      );
      bus.hint(dispatchSubject(gap.probeId), { type: 'resend', epoch: gap.epoch, shard, seq: gap.seq });
    }
    for (const [key, { atMs }] of resent) if (nowMs - atMs > 30_000) resent.delete(key);
  }

  return {
    answer: ({ intake, changes, rechecks }) => {
      for (const { message, verdict } of intake.settled) message.settle(verdict);
      for (const [probeId, positions] of acknowledgements(intake)) {
        const told = positions.map(({ epoch, seq }) => ({ epoch, shard, seq }));
        for (const part of inParts(told)) bus.hint(dispatchSubject(probeId), { type: 'acknowledged', positions: part });
      }
      askAgain(intake.resends);
      for (const [probeId, monitorIds] of wishesByProbe(rechecks)) {
        for (const part of inParts(monitorIds))
          bus.hint(dispatchSubject(probeId), { type: 'recheck', monitor_ids: part });
      }
      if (changes.outbox.length > 0) bus.hint(outboxSubject, {});
      for (const rejection of intake.rejected) {
        log.warn(
          {
            subject: rejection.subject,
            probe_id: rejection.probeId,
            reason: rejection.reason,
            detail: rejection.detail,
            digest: rejection.digest.toString('hex'),
          },
          'results refused for ever',
        );
      }
      if (intake.voided > 0)
        log.info(
          { count: intake.voided },
          'results of before a reset of their monitors came after it and were dropped',
        );
      if (intake.unrecorded > 0)
        log.warn({ count: intake.unrecorded }, 'more results refused than are recorded at once');
    },
  };
}

/** A hint names at most 1,000. */
function inParts<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = [];
  for (let at = 0; at < items.length; at += 1_000) parts.push(items.slice(at, at + 1_000));
  return parts;
}

/** The newest committed position of each epoch that moved, or that a probe did not know to be committed. */
export function acknowledgements(intake: Pick<Intake, 'moves' | 'duplicates'>): Map<number, Position[]> {
  const newest = new Map<string, Position>();
  const moved = [...intake.moves.values()].map(({ probeId, epoch, to }) => ({ probeId, epoch, seq: to }));
  for (const position of [...intake.duplicates, ...moved]) {
    const known = newest.get(cursorKey(position));
    if (position.seq > 0 && (known === undefined || known.seq < position.seq))
      newest.set(cursorKey(position), position);
  }
  return Map.groupBy(newest.values(), (position) => position.probeId);
}

/** Which monitors each probe is asked to check again. The control plane's own voter is no probe: its runner is asked. */
export function wishesByProbe(wishes: readonly RecheckWish[]): Map<number, number[]> {
  const byProbe = new Map<number, Set<number>>();
  for (const wish of wishes) {
    for (const voter of wish.voters) {
      if (voter === 0) continue;
      const monitors = byProbe.get(voter) ?? new Set<number>();
      byProbe.set(voter, monitors.add(wish.monitorId));
    }
  }
  return new Map([...byProbe].map(([probeId, monitors]) => [probeId, [...monitors]]));
}
