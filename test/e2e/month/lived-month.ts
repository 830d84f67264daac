import type { TestContext } from '@parallax/testkit';
import { keptLog } from '@parallax/testkit';
import pg from 'pg';
import { createCopyEncoder } from '../../../control-plane/src/monitoring/check-results/ingest/copy-buffer.ts';
import {
  adopt,
  createMemory,
  rebuildWindows,
  restoreAll,
  underQuarantine,
} from '../../../control-plane/src/monitoring/check-results/ingest/memory.ts';
import { createPartitions } from '../../../control-plane/src/monitoring/check-results/ingest/partitions.ts';
import { readMonitors, readQuarantines } from '../../../control-plane/src/monitoring/check-results/ingest/queries.ts';
import type { ShardMonitor } from '../../../control-plane/src/monitoring/check-results/ingest/queries.ts';
import type { IngestRow } from '../../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import { insertMonitors } from '../../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import { readWindows } from '../../../control-plane/src/monitoring/check-results/ingest/windows/queries.ts';
import { writeRound } from '../../../control-plane/src/monitoring/check-results/ingest/write.ts';
import { moveAndDrop, packAll } from '../../../control-plane/src/monitoring/check-results/packing/job.ts';
import { createPackedPartitions } from '../../../control-plane/src/monitoring/check-results/packing/queries.ts';
import { emptyMonitor } from '../../../control-plane/src/monitoring/monitors/emptying/queries.ts';
import { markReset } from '../../../control-plane/src/monitoring/monitors/reset/queries.ts';
import { addProbe } from '../../../control-plane/src/monitoring/testing.ts';
import { removeSlaRows, startNewChain } from '../../../control-plane/src/reporting/sla/index.ts';
import { closeDays } from '../../../control-plane/src/reporting/sla/ledger/closing/job.ts';
import type { ReportingApi } from '../../../control-plane/src/reporting/testing.ts';
import { dayUs, hourUs, madeMonth } from './made-month.ts';
import type { MadeMonitor, MadeProbe } from './made-month.ts';

/** A monitor as it stands in the database, and all results of it that were stored. */
export type LivedMonitor = {
  readonly id: number;
  readonly made: MadeMonitor;
  readonly rows: IngestRow[];
};

export type LivedMonth = {
  readonly monitors: readonly LivedMonitor[];
  /** By their identifiers in the database. */
  readonly probes: ReadonlyMap<number, MadeProbe>;
  readonly probeIds: readonly number[];
  /** Up to when results are evaluated. */
  readonly foldedUs: number;
  /** What was logged as a warning or an error. */
  readonly complaints: () => string[];
  /** A round of the ingest, which first hears of what changed of these monitors. */
  readonly round: (changedIds?: readonly number[]) => Promise<void>;
  readonly pack: () => Promise<void>;
};

export type LivedOptions = { readonly seed: number; readonly monitors: number; readonly days: number };

/** How much time passes between two rounds. */
const stepUs = 8 * hourUs;
/** What came last is not packed. */
const unpackedUs = 2 * hourUs;
const shard = 0;
const ownership = { shard, owner: 'month', term: 1 };
const mostRebuilds = 8;

function roundEnds(fromUs: number, toUs: number): number[] {
  const ends: number[] = [];
  for (let us = fromUs + stepUs; us < toUs - unpackedUs; us += stepUs) ends.push(us);
  return [...ends, toUs - unpackedUs, toUs];
}

type Happening = {
  readonly atUs: number;
  readonly act: () => Promise<void>;
  /** Whose configuration is another then. */
  readonly monitor?: MadeMonitor;
  readonly quarantinedProbe?: number;
};

/**
 * Lets a month pass over a database: what happens to monitors is written as requests write it, results go through the fold and the transaction of
 * the ingest in the order of their receipt, and day by day hours are packed, days of rows dropped and days of the ledger closed.
 */
export async function livedMonth(t: TestContext, api: ReportingApi, options: LivedOptions): Promise<LivedMonth> {
  const nowUs = api.nowMs * 1_000;
  const foldedUs = nowUs - 2_000_000;
  const month = madeMonth({ ...options, nowUs: foldedUs });
  const beginUs = foldedUs - options.days * dayUs;
  const pool = api.database.raw;
  const client = new pg.Client({ connectionString: pool.options.connectionString });
  await client.connect();
  t.teardown(() => client.end());
  const { log, lines } = keptLog();
  const encode = createCopyEncoder();
  const partitions = createPartitions(pool);
  const packed = createPackedPartitions(pool);
  await pool.query(
    `insert into shards (shard, owner, term, folded_until) values ($1, $2, $3, $4)
     on conflict (shard) do update set owner = excluded.owner, term = excluded.term, folded_until = excluded.folded_until`,
    [shard, ownership.owner, ownership.term, new Date(beginUs / 1_000)],
  );
  const probeIds: number[] = [];
  for (const { number, region } of month.probes) probeIds.push(await addProbe(api.database, `probe ${number}`, region));
  const idOfProbe = (number: number): number => probeIds[number - 1] ?? 0;
  const idOf = new Map<MadeMonitor, number>();
  const memory = createMemory({ cursors: new Map(), probes: new Map(), mark: '0', toldUntilUs: beginUs });
  let revision = 1_000_000;

  const happenings = [...month.monitors.flatMap(happeningsOf), ...month.probes.flatMap(quarantinesOf)].toSorted(
    (one, other) => one.atUs - other.atUs,
  );

  function monitorId(monitor: MadeMonitor): number {
    const id = idOf.get(monitor);
    if (id === undefined) throw new Error(`monitor ${monitor.index} was not made yet`);
    return id;
  }

  /** Runs SQL in which $1 is the monitor and $2 a time, and marks the monitor as changed. */
  async function change(
    monitor: MadeMonitor,
    atUs: number,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<void> {
    const id = monitorId(monitor);
    await pool.query(text, [id, new Date(atUs / 1_000), ...values]);
    await pool.query('update monitors set version = version + 1, changed_xid = pg_current_xact_id() where id = $1', [
      id,
    ]);
  }

  function happeningsOf(monitor: MadeMonitor): Happening[] {
    const { createdUs, rules, seats, pauses, resetUs } = monitor;
    const found: Happening[] = [{ atUs: createdUs, monitor, act: () => create(monitor) }];
    const add = (atUs: number | null, act: (atUs: number) => Promise<void>): void => {
      if (atUs !== null && atUs < foldedUs) found.push({ atUs, monitor, act: () => act(atUs) });
    };
    for (const { fromUs, ...rule } of rules.slice(1)) add(fromUs, (atUs) => edit(monitor, atUs, rule));
    for (const seat of seats) {
      if (seat.fromUs !== createdUs) add(seat.fromUs, (atUs) => open(monitor, atUs, seat.probe, seat.supplement));
      add(seat.toUs, (atUs) =>
        change(monitor, atUs, 'update assignments set ended_at = $2 where monitor_id = $1 and probe_id = $3', [
          idOfProbe(seat.probe),
        ]),
      );
    }
    for (const { fromUs, toUs } of pauses) {
      add(fromUs, (atUs) =>
        change(
          monitor,
          atUs,
          `with p as (insert into pauses (monitor_id, started_at, paused_by) values ($1, $2, 'self')) update monitors set is_active = false where id = $1`,
        ),
      );
      add(toUs, (atUs) =>
        change(
          monitor,
          atUs,
          `with p as (update pauses set ended_at = $2 where monitor_id = $1 and ended_at is null) update monitors set is_active = true where id = $1`,
        ),
      );
    }
    add(resetUs, (atUs) => reset(monitor, atUs));
    return found;
  }

  function quarantinesOf({ number, quarantined }: MadeProbe): Happening[] {
    const probeId = idOfProbe(number);
    const run = (atUs: number, text: string): Happening => ({
      atUs,
      quarantinedProbe: probeId,
      act: async () => {
        await pool.query(text, [probeId, new Date(atUs / 1_000)]);
      },
    });
    return quarantined.flatMap(({ fromUs, toUs }) => [
      run(fromUs, `insert into quarantines (probe_id, started_at, reason) values ($1, $2, 'made')`),
      run(
        toUs,
        'update quarantines set ended_at = $2, changed_xid = pg_current_xact_id() where probe_id = $1 and ended_at is null',
      ),
    ]);
  }

  async function create(monitor: MadeMonitor): Promise<void> {
    const [first] = monitor.rules;
    const probes = monitor.seats
      .filter(({ fromUs }) => fromUs === monitor.createdUs)
      .map(({ probe }) => ({
        id: idOfProbe(probe),
        region: month.probes[probe - 1]?.region ?? '',
        seed: new Uint8Array(),
      }));
    const [id = 0] = await insertMonitors(
      pool,
      { userId: api.owner.id, workspaceId: api.workspaceId },
      {
        count: 1,
        probes,
        createdMs: monitor.createdUs / 1_000,
        intervalS: monitor.intervalS,
        timeoutS: monitor.timeoutS,
        confirmations: first?.confirmations ?? 2,
      },
    );
    await pool.query(
      `with a as (update assignments set revision = revision + $4 where monitor_id = $1),
         h as (update monitor_history set consensus_policy = $2::jsonb where monitor_id = $1)
       update monitors set name = $3, consensus_policy = $2::jsonb where id = $1`,
      [id, JSON.stringify(first?.policy), `monitor ${monitor.index}`, (revision += 10)],
    );
    idOf.set(monitor, id);
  }

  async function edit(
    monitor: MadeMonitor,
    atUs: number,
    rule: Omit<MadeMonitor['rules'][number], 'fromUs'>,
  ): Promise<void> {
    const values = [rule.probeRevision, rule.confirmations, JSON.stringify(rule.policy)];
    await change(
      monitor,
      atUs,
      `with h as (
         insert into monitor_history (monitor_id, effective_at, version, probe_revision, confirmations, consensus_policy, interval_seconds, timeout_seconds)
         select id, $2, version + 1, $3, $4, $5::jsonb, interval_seconds, timeout_seconds from monitors where id = $1)
       update monitors set probe_revision = $3, confirmations = $4, consensus_policy = $5::jsonb where id = $1`,
      values,
    );
  }

  function open(monitor: MadeMonitor, atUs: number, probe: number, supplement: boolean): Promise<void> {
    const region = month.probes[probe - 1]?.region;
    return change(
      monitor,
      atUs,
      'insert into assignments (monitor_id, started_at, probe_id, region, revision, supplement) values ($1, $2, $3, $4, $5, $6)',
      [idOfProbe(probe), region, (revision += 10), supplement],
    );
  }

  async function reset(monitor: MadeMonitor, atUs: number): Promise<void> {
    const id = monitorId(monitor);
    const { worker } = api.database;
    await worker.transaction(async (tx) => {
      await markReset(tx, { id, workspace_id: api.workspaceId }, atUs / 1_000);
      await startNewChain(tx, id);
    });
    await emptyMonitor(worker, { monitorId: id, beforeMs: atUs / 1_000, more: [removeSlaRows] }, () => true);
  }

  async function learn(changed: Iterable<ShardMonitor>): Promise<void> {
    const newcomers = adopt(memory, changed);
    if (newcomers.length > 0) restoreAll(memory, newcomers, await readWindows(pool, newcomers));
  }

  /** What happened is written, and the ingest hears of it. */
  async function happen(list: readonly Happening[]): Promise<void> {
    for (const { act } of list) await act();
    const ids = new Set(list.flatMap(({ monitor }) => (monitor === undefined ? [] : [monitorId(monitor)])));
    if (ids.size > 0) await learn((await readMonitors(pool, shard, [...ids], beginUs)).values());
    const quarantined = new Set(list.flatMap(({ quarantinedProbe }) => quarantinedProbe ?? []));
    if (quarantined.size > 0) {
      await learn(underQuarantine(memory, await readQuarantines(pool, [...quarantined], `'-infinity'::timestamptz`)));
    }
  }

  async function rebuild(): Promise<void> {
    for (let attempt = 0; ; attempt += 1) {
      const wishes = memory.fold.rebuilds();
      if (wishes.length === 0) return;
      if (attempt === mostRebuilds) throw new Error(`monitor ${wishes[0]?.monitorId} cannot be rebuilt`);
      const wanted = rebuildWindows(memory, wishes);
      restoreAll(memory, wanted, await readWindows(pool, wanted));
    }
  }

  async function round(rows: IngestRow[], toUs: number): Promise<void> {
    memory.fold.apply(rows);
    await rebuild();
    const { edits, statuses, outbox, refolded } = memory.fold.take(toUs, false);
    memory.toldUntilUs = toUs;
    await partitions.prepareFor(rows, toUs);
    const intake = { rows, moves: new Map(), lost: [], rejected: [] };
    const changes = { edits, statuses, outbox, refolded };
    await writeRound(client, ownership, { intake, changes, foldedUntilUs: toUs }, encode);
  }

  async function pack(toUs: number): Promise<void> {
    const now = (): number => toUs / 1_000;
    await packAll({ pool, partitions: packed, shards: 1, now, log, isStopped: () => false, settledSeconds: 0 });
    const drop = () => moveAndDrop({ database: api.database, now }, log, () => false);
    await drop();
    await pool.query(`update result_storage set moved_at = moved_at - interval '2 minutes'`);
    await drop();
    await closeDays({ database: api.database, now }, () => true);
  }

  const isCreatedEarly = ({ atUs }: Happening): boolean => atUs <= beginUs;
  await happen(happenings.filter(isCreatedEarly));
  const later = happenings.filter((happening) => !isCreatedEarly(happening));
  const made = new Map<MadeMonitor, IngestRow[]>();
  // Monitors get their identifiers in the order in which they are made, which is known.
  const early = month.monitors.filter(({ createdUs }) => createdUs <= beginUs);
  const order = [
    ...early,
    ...later.flatMap(({ monitor, atUs }) => (monitor !== undefined && atUs === monitor.createdUs ? [monitor] : [])),
  ];
  const firstId = Math.min(...idOf.values());
  for (const [index, monitor] of order.entries()) made.set(monitor, month.rowsOf(monitor, firstId + index, probeIds));
  const waiting = [...made.values()].flat().sort((one, other) => other.receivedUs - one.receivedUs);
  const monitorOf = new Map([...order.entries()].map(([index, monitor]) => [firstId + index, monitor]));
  const kept = new Map<number, IngestRow[]>(order.map((_, index) => [firstId + index, []]));

  for (const [step, toUs] of roundEnds(beginUs, foldedUs).entries()) {
    const happened: Happening[] = [];
    while ((later[0]?.atUs ?? Number.POSITIVE_INFINITY) < toUs) happened.push(...later.splice(0, 1));
    // What changes is heard of before the results of its time at first, and after them the next time.
    const isHeardFirst = step % 2 === 0 || happened.some(({ atUs, monitor }) => atUs === monitor?.createdUs);
    if (isHeardFirst) await happen(happened);
    const rows: IngestRow[] = [];
    for (let next = waiting.at(-1); next !== undefined && next.receivedUs <= toUs; next = waiting.at(-1)) {
      waiting.pop();
      const { resetUs } = monitorOf.get(next.monitorId) ?? { resetUs: null };
      if (resetUs !== null && next.eUs < resetUs && next.receivedUs >= resetUs && isHeardFirst) continue;
      rows.push(next);
      kept.get(next.monitorId)?.push(next);
    }
    await round(rows, toUs);
    if (!isHeardFirst) await happen(happened);
    if (step % 3 === 2 || toUs === foldedUs - unpackedUs) await pack(toUs);
  }
  await round([], foldedUs);

  return {
    monitors: order.map((monitor) => ({
      id: monitorId(monitor),
      made: monitor,
      rows: kept.get(monitorId(monitor)) ?? [],
    })),
    probes: new Map(month.probes.map((probe) => [idOfProbe(probe.number), probe])),
    probeIds,
    foldedUs,
    complaints: () =>
      lines.filter(({ level }) => level === 'warn' || level === 'error').map((line) => JSON.stringify(line)),
    round: async (changedIds = []) => {
      if (changedIds.length > 0) await learn((await readMonitors(pool, shard, changedIds, beginUs)).values());
      await round([], foldedUs);
    },
    pack: () => pack(foldedUs),
  };
}
