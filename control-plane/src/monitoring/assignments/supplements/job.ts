import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { repeatWhenDue } from '../../../platform/repeat-when-due.ts';
import type { RunningService } from '../../../platform/running-service.ts';
import type { Context } from '../../../context.ts';
import type { Bus } from '../../../platform/bus/bus.ts';
import { configurationSubject, dispatchSubject } from '../../../platform/bus/subjects.ts';
import { sql } from '../../../platform/database/pools.ts';
import { writeSeats } from '../seats/queries.ts';
import { planSupplements } from '../supplements.ts';
import { monitorsToSupplement, supplementedMonitors, supplementingProbes, watchProbes } from './queries.ts';

/** While a probe is lost, and where changes are not signalled. */
const againMs = 1_000;
/** While something is supplemented and no probe changes: what time alone decides. */
const repeatMs = 10_000;
/** While something is lost and no probe changes: seats that had no free probe, and monitors that were resumed or edited. */
const thoroughMs = 30_000;
/** A transaction holds the rows of so many monitors and of their probes: a fraction of a second. */
const batchSize = 500;
/** However often probes change, they are looked at no more often. */
const leastLookMs = 250;
// Any constant that no other program uses on this database.
const supplementLock = 7_152_036_403n;

/**
 * Gives seats of lost probes a supplement, and takes it away again (`planSupplements`). One batch after the other on one connection
 * of one replica: that bounds the load on the database and, with some thousand new monitors a second, on the probes.
 */
export async function startSupplements(context: Context, log: Logger): Promise<RunningService> {
  let seen = '';
  let nextPassMs = 0;
  let nextThoroughMs = 0;

  const look = async (isStopped: () => boolean): Promise<number | undefined> => {
    const {
      fingerprint,
      is_any_lost: isAnyLost,
      has_supplements: hasSupplements,
    } = await watchProbes(context.database.worker);
    const isNew = fingerprint !== seen;
    if (!isAnyLost && !hasSupplements) {
      seen = fingerprint;
      return undefined;
    }
    if (!isNew && performance.now() < nextPassMs) return againMs;
    const isThorough = isNew || performance.now() >= nextThoroughMs;
    const pass = await supplementAll(context.database.worker, {
      nowMs: context.now(),
      isThorough,
      isStopped,
      onChanged: (probeIds) => announceSeats(context.bus, context.shards, probeIds),
    });
    if (pass.opened + pass.closed > 0) {
      log.info(
        { opened: pass.opened, closed: pass.closed },
        'seats and supplements were changed because probes were lost',
      );
    }
    // What another replica does at this moment is looked at again in the next second.
    if (!pass.isComplete) return againMs;
    seen = fingerprint;
    nextPassMs = performance.now() + repeatMs;
    if (isThorough) nextThoroughMs = performance.now() + thoroughMs;
    return againMs;
  };
  return repeatWhenDue({
    signals: context.database.signals,
    tables: ['probes'],
    unheardMs: againMs,
    leastMs: leastLookMs,
    work: look,
    onError: (error) => log.warn({ err: error }, 'lost probes could not be supplemented; trying again'),
  });
}

/** What a pass has done. */
export type SupplementPass = {
  readonly opened: number;
  readonly closed: number;
  /** False when it was stopped, or another replica was at it or held a monitor. */
  readonly isComplete: boolean;
};

export type SupplementPassOptions = {
  /** The database's clock, ms since the epoch. */
  readonly nowMs: number;
  /** Looks for seats without a supplement too, and at supplements that nothing suggests to have changed. */
  readonly isThorough?: boolean;
  readonly isStopped?: () => boolean;
  /** Called after each commit with the probes whose assignments changed. */
  readonly onChanged?: (probeIds: readonly number[]) => void;
};

/** One pass over all monitors that a lost probe concerns. */
export async function supplementAll(
  pool: DatabasePool,
  { nowMs, isThorough = true, isStopped = () => false, onChanged = () => undefined }: SupplementPassOptions,
): Promise<SupplementPass> {
  const pass = { opened: 0, closed: 0, isComplete: true };
  for (let after = 0; ; ) {
    if (isStopped()) return { ...pass, isComplete: false };
    const probes = await supplementingProbes(pool);
    const monitorIds = await monitorsToSupplement(pool, probes, nowMs, { after, limit: batchSize, isThorough });
    const last = monitorIds.at(-1);
    if (last === undefined) return pass;
    // First without locks: a seat for which no probe is free needs nothing, and there may be many.
    const plan = planSupplements(await supplementedMonitors(pool, monitorIds, probes, nowMs), probes, nowMs);
    if (plan.length > 0) {
      const written = await settle(pool, [...new Set(plan.map((change) => change.monitorId))], nowMs);
      pass.opened += written.opened;
      pass.closed += written.closed;
      pass.isComplete &&= written.isComplete;
      if (written.probeIds.length > 0) onChanged(written.probeIds);
    }
    after = last;
  }
}

async function settle(
  pool: DatabasePool,
  monitorIds: readonly number[],
  nowMs: number,
): Promise<SupplementPass & { readonly probeIds: readonly number[] }> {
  return pool.transaction(async (tx) => {
    const isMine = await tx.oneFirst(sql.type(z.object({ locked: z.boolean() }))`
      select pg_try_advisory_xact_lock(${supplementLock}) as locked`);
    if (!isMine) return { opened: 0, closed: 0, isComplete: false, probeIds: [] };
    const locked = await tx.any(sql.typeAlias('id')`
      select id from monitors where id = any (${sql.array([...monitorIds], 'int4')})
      order by id for no key update skip locked`);
    const ids = locked.map((row) => row.id);
    const probes = await supplementingProbes(tx);
    const plan = planSupplements(await supplementedMonitors(tx, ids, probes, nowMs), probes, nowMs);
    const opened = plan.filter((change) => change.operation === 'open').length;
    return {
      opened,
      closed: plan.length - opened,
      isComplete: ids.length === monitorIds.length,
      probeIds: await writeSeats(tx, plan),
    };
  });
}

/** Hints, after the commit: the probes get their assignments at once, and the ingest knows of them before their first result. */
function announceSeats(bus: Bus, shards: number, probeIds: readonly number[]): void {
  for (let shard = 0; shard < shards; shard += 1) bus.hint(configurationSubject(shard), { type: 'configuration' });
  for (const probeId of probeIds) bus.hint(dispatchSubject(probeId), { type: 'assignments' });
}
