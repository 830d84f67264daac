import {
  eventually,
  fastLimits,
  world,
} from '../../../control-plane/src/monitoring/check-results/ingest/testing/world.ts';
import type { RunningShard } from '../../../control-plane/src/monitoring/check-results/index.ts';
import { workOnce } from '../../../control-plane/src/platform/outbox/worker.ts';
import { incidentsCapability } from '../../../control-plane/src/response/incidents/index.ts';
import type { TestContext } from '@parallax/testkit';
import type { ResultRecord } from '@parallax/wire';
import { RecordedPoint, VantagePoint } from './vantage-point.ts';
import type { Answer, Point } from './vantage-point.ts';

export type VirtualOptions = {
  /** Virtual time begins here, ms since the epoch; within two days before the present. */
  readonly startMs: number;
  readonly probes: number;
  readonly monitors: number;
  readonly intervalS: number;
  readonly timeoutS?: number;
  readonly confirmations?: number;
  /** What the probe at this position, from 0, finds of the monitor at this position. `atS`: seconds since the beginning. */
  readonly sees: (probe: number, monitor: number, atS: number) => Answer;
  /** Instead of checks of its own, the probe at each position sends these again, each when its check had ended. */
  readonly replay?: readonly (readonly ResultRecord[])[];
  readonly clockErrorMs?: (probe: number, atS: number) => number;
  /** Called every so often in virtual time. */
  readonly every?: { readonly seconds: number; readonly work: (nowMs: number) => Promise<unknown> };
};

/** A row of the outbox about a monitor; times in seconds since the beginning. */
export type Told = {
  readonly kind: string;
  readonly monitorId: number;
  readonly from: string;
  readonly to: string;
  readonly atS: number;
  readonly detectedS: number;
};

export type ToldRange = {
  readonly monitorId: number;
  readonly status: string;
  readonly fromS: number;
  readonly toS: number | null;
  readonly isRevised: boolean;
};

/** What is asked for is done in the next second; where nobody asks, time may pass in longer steps. */
const tickMs = 1_000;
const longTickMs = 5_000;
/** Few, and few in a round of the ingest, so that what has gathered is read in many steps. */
const mostInBatch = 20;
const mostInRound = 20;
/** Real time for one step; a busy machine takes its time. */
const settledWithinMs = 60_000;

/**
 * The real ingest, broker and database under probes on virtual time: hours pass in seconds. A check, a vote that ends and a rule that waits
 * happen at their virtual time; what the ingest has to do for a moment is done before the next one comes.
 */
export async function virtualWorld(test: TestContext, options: VirtualOptions) {
  const { startMs, intervalS, timeoutS = 10, confirmations = 2 } = options;
  const w = await world(test, { ...options, timeoutS, confirmations, createdMs: startMs - 1_000 });
  const seconds = (ms: number): number => (ms - startMs) / 1_000;
  let nowMs = startMs;
  let shard: RunningShard | undefined;
  const cutOff = new Set<number>();
  let isBrokerAway = false;
  const points = w.probes.map((probe, position): Point => {
    const recorded = options.replay?.[position];
    if (recorded !== undefined) return new RecordedPoint(probe.id, recorded);
    return new VantagePoint({
      probeId: probe.id,
      monitors: w.monitors,
      intervalS,
      timeoutS,
      confirmations,
      startMs,
      sees: (monitorId, atMs) => options.sees(position, w.monitors.indexOf(monitorId), seconds(atMs)),
      clockErrorMs: (atMs) => options.clockErrorMs?.(position, seconds(atMs)) ?? 0,
    });
  });
  const sent = new Map(points.map((point) => [point.probeId, 0]));
  for (const point of points) {
    w.bus.listen(`dispatch.${point.probeId}`, (hint) => {
      const told = hint as { type: string; monitor_ids?: number[]; seq?: number };
      if (told.type === 'recheck' && !cutOff.has(point.probeId)) point.ask(told.monitor_ids ?? []);
      if (told.type === 'resend') sent.set(point.probeId, (told.seq ?? 1) - 1);
    });
  }
  const consumers = incidentsCapability.consumers ?? [];
  const context = {
    database: w.database,
    bus: w.bus,
    now: () => nowMs,
    log: { warn: () => undefined, error: () => undefined },
  };

  /** Sends the next batch of a probe. @returns false when it has none, or reaches nobody */
  async function sendNext(point: Point): Promise<boolean> {
    const probe = w.probes.find((one) => one.id === point.probeId);
    const done = sent.get(point.probeId) ?? 0;
    if (probe === undefined || isBrokerAway || cutOff.has(point.probeId) || done >= point.log.length) return false;
    const part: readonly ResultRecord[] = point.log.slice(done, done + mostInBatch);
    sent.set(point.probeId, done + part.length);
    await w.send(probe, w.batch(probe, { firstSeq: done + 1 }, part));
    return true;
  }

  /** Sends all that there is, the probes in turn. */
  async function publish(): Promise<void> {
    for (let isMore = true; isMore; ) {
      isMore = false;
      for (const point of points) if (await sendNext(point)) isMore = true;
    }
  }

  /** Until the ingest has taken in what was sent, told of it up to now, and asked for what it wants. */
  async function settle(): Promise<void> {
    if (shard === undefined) return;
    await eventually(
      async () => {
        const found = await w.pool.query<{ folded: boolean; taken: Record<string, number> | null }>(
          `select (select folded_until >= $1 from shards) as folded,
           (select jsonb_object_agg(probe_id, seq) from (select probe_id, max(seq) as seq from cursors group by probe_id) c) as taken`,
          [new Date(nowMs)],
        );
        const { folded = false, taken = null } = found.rows[0] ?? {};
        return folded && points.every(({ probeId }) => (taken?.[probeId] ?? 0) >= (sent.get(probeId) ?? 0));
      },
      `virtual second ${seconds(nowMs)}`,
      settledWithinMs,
    );
    if (isBrokerAway) return;
    // The commit that was seen may not have come back to the ingest yet: its hints are sent by the first answer, and here by the second.
    await w.bus.connection.flush();
    await w.bus.connection.flush();
  }

  async function deliver(): Promise<void> {
    while ((await workOnce(context as never, consumers)) > 0);
  }

  async function step(toMs: number): Promise<void> {
    for (const point of points) point.live(toMs);
    nowMs = toMs;
    await publish();
    await settle();
  }

  let workedMs = startMs;
  return {
    w,
    points,
    start: (changed: { readonly holdMs?: number } = {}) => {
      shard = w.start({ now: () => nowMs, limits: { ...fastLimits, idleMs: 10, rows: mostInRound, ...changed } });
    },
    stop: async () => {
      await shard?.stop();
      shard = undefined;
    },
    /** Lets virtual time pass. */
    passTo: async (toS: number) => {
      const endMs = startMs + toS * 1_000;
      while (nowMs < endMs) {
        // Rechecks that were asked for are due at once; else the next tick in which anything happens.
        const nextMs = Math.min(...points.map((point) => point.nextMs), nowMs + 5_000);
        const everyMs = isBrokerAway || options.replay !== undefined ? longTickMs : tickMs;
        const tick = startMs + Math.ceil((Math.max(nextMs, nowMs + 1) - startMs) / everyMs) * everyMs;
        await step(Math.min(endMs, tick));
        if (options.every !== undefined && nowMs - workedMs >= options.every.seconds * 1_000) {
          workedMs = nowMs;
          await options.every.work(nowMs);
        }
      }
      await deliver();
    },
    /** A probe reaches nobody, or everybody again. */
    cut: (position: number, isCut: boolean) => {
      const probeId = points[position]?.probeId ?? 0;
      if (isCut) cutOff.add(probeId);
      else cutOff.delete(probeId);
    },
    /** Ends the broker as a crash would, or starts it again on what it had stored. */
    broker: async (isAway: boolean) => {
      isBrokerAway = isAway;
      if (isAway) await w.nats.kill();
      else await w.nats.start();
    },
    told: async (): Promise<Told[]> => {
      const found = await w.pool.query<{ kind: string; payload: Record<string, string> }>(
        `select kind, payload from outbox where key like 'monitor:%' order by id`,
      );
      return found.rows.map(({ kind, payload }) => ({
        kind,
        monitorId: Number(payload['monitor_id']),
        from: payload['from'] ?? '',
        to: payload['to'] ?? '',
        atS: seconds(Date.parse(payload['at'] ?? payload['since'] ?? '')),
        detectedS: seconds(Date.parse(payload['detected_at'] ?? '')),
      }));
    },
    ranges: async (): Promise<ToldRange[]> => {
      const found = await w.pool.query<{
        monitor_id: number;
        status: string;
        started_at: Date;
        ended_at: Date | null;
        revised: boolean;
      }>(
        `select monitor_id, status, started_at, ended_at, revised_at is not null as revised from status_ranges order by monitor_id, started_at`,
      );
      return found.rows.map((row) => ({
        monitorId: row.monitor_id,
        status: row.status,
        fromS: seconds(row.started_at.getTime()),
        toS: row.ended_at === null ? null : seconds(row.ended_at.getTime()),
        isRevised: row.revised,
      }));
    },
    incidents: async () => {
      const found = await w.pool.query<{
        id: number;
        status: string;
        resolution: string | null;
        detected_late: boolean;
        started_at: Date;
        resolved_at: Date | null;
      }>('select id, status, resolution, detected_late, started_at, resolved_at from incidents order by started_at');
      return found.rows.map((row) => ({
        ...row,
        startedS: seconds(row.started_at.getTime()),
        resolvedS: row.resolved_at === null ? null : seconds(row.resolved_at.getTime()),
      }));
    },
    statuses: async (): Promise<string[]> =>
      (await w.pool.query<{ status: string }>('select status from monitors order by id')).rows.map((row) => row.status),
  };
}

export type VirtualWorld = Awaited<ReturnType<typeof virtualWorld>>;
