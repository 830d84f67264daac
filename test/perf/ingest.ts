import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresOwner } from '@parallax/embedded';
import { natsServer } from '@parallax/testkit';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { openIngestClient, startShard } from '../../control-plane/src/monitoring/check-results/index.ts';
import { copyText, createCopyEncoder } from '../../control-plane/src/monitoring/check-results/ingest/copy-buffer.ts';
import {
  insertMonitors,
  insertProbe,
  insertWorkspace,
} from '../../control-plane/src/monitoring/check-results/ingest/testing/fixture.ts';
import type { IngestRow } from '../../control-plane/src/monitoring/check-results/ingest/rows.ts';
import { connectBus } from '../../control-plane/src/platform/bus/nats-bus.ts';
import { migrate } from '../../control-plane/src/platform/database/migrate.ts';
import { benchLog, startDurablePostgres } from './database.ts';
import { batchRows, intervalS, monitorCount, permutation, positionUs } from './ingest-load.ts';
import type { PublisherOrder } from './ingest-load.ts';
import { processorTimeUs } from './processor-time.ts';
import type { Bench } from './report.ts';

const warmUpMs = 3_000;
const ingestMs = 10_000;
const copyMs = 3_000;
const probeCount = 3;
/** Messages of all probes that are published and not committed: a window each, as agents have, and what a transaction holds. */
const windowMessages = 60;
const rowsPerCopy = 5_000;

/** From the broker to committed rows, with everything that the ingest does, beside a bare COPY of such rows into the same table. */
export const ingestBench: Bench = {
  name: 'ingest',
  summary: 'durable ingest from NATS to committed rows, beside raw binary COPY into the same table',
  run: async (say) => {
    const undo: (() => unknown)[] = [];
    const teardown = (step: () => unknown): void => void undo.unshift(step);
    try {
      return await measure(say, teardown);
    } finally {
      for (const step of undo) await step();
    }
  },
};

async function measure(say: (line: string) => void, teardown: (step: () => unknown) => void) {
  const log = benchLog(say);
  const postgres = await startDurablePostgres(say, teardown);
  const nats = await natsServer({ teardown });
  await migrate(postgres.url('postgres', postgresOwner));
  const url = postgres.url('postgres', 'parallax_worker');
  const pool = new pg.Pool({ connectionString: url, max: 6 });
  teardown(() => pool.end());

  say(`${monitorCount.toLocaleString('en')} monitors, ${probeCount} probes`);
  const startUs = (Math.floor(Date.now() / 86_400_000) * 86_400_000 - 2 * 3_600_000) * 1_000;
  const owner = await insertWorkspace(pool);
  const probes = await Promise.all(
    Array.from({ length: probeCount }, (_, index) => insertProbe(pool, `region-${index}`)),
  );
  const monitors = await insertMonitors(pool, owner, {
    count: monitorCount,
    probes,
    createdMs: startUs / 1_000 - 60_000,
    intervalS,
  });
  const bus = await connectBus({ servers: nats.url, name: 'bench', log });
  teardown(() => bus.close());

  // Time of the load: as far as what may have been published.
  let committedRows = 0;
  let committedMessages = 0;
  let rounds = 0;
  let publisher: ChildProcess | undefined;
  const now = (): number =>
    (startUs + positionUs(Math.floor((committedMessages + windowMessages) / probeCount) * batchRows)) / 1_000 + 1_000;
  const startIngest = (onCommitted: (round: { rows: number; messages: number }) => void) =>
    startShard({
      shard: 0,
      shards: 1,
      replica: 'bench',
      openClient: () => openIngestClient(url, 'bench ingest'),
      reader: pool,
      connection: bus.connection,
      bus,
      log,
      now,
      onCommitted,
    });
  const shard = startIngest(({ rows, messages }) => {
    committedRows += rows;
    committedMessages += messages;
    if (rows > 0) rounds += 1;
    if (publisher?.connected === true) publisher.send({ committedMessages });
  });
  teardown(() => shard.stop());
  publisher = startPublisher({
    natsUrl: nats.url,
    startUs,
    windowMessages,
    monitors,
    probes: probes.map(({ id, seed }) => ({ id, seed: Buffer.from(seed).toString('base64') })),
  });
  teardown(() => ended(publisher));

  const isFirstSweepIn = (): boolean => committedRows >= monitorCount * probeCount;
  while (!isFirstSweepIn()) await sleep(20);
  await sleep(warmUpMs);
  const before = {
    rows: committedRows,
    messages: committedMessages,
    rounds,
    atMs: performance.now(),
    us: cpu(postgres.pid, nats.pid()),
  };
  const parts = { own: process.cpuUsage(), postgres: processorTimeUs(postgres.pid), nats: processorTimeUs(nats.pid()) };
  await sleep(ingestMs);
  const rows = committedRows - before.rows;
  const messages = committedMessages - before.messages;
  const seconds = (performance.now() - before.atMs) / 1_000;
  const us = cpu(postgres.pid, nats.pid()) - before.us;
  const own = process.cpuUsage(parts.own);
  const perRow = (total: number): string => (total / rows).toFixed(2);
  const detail = `control plane ${perRow(own.user + own.system)}, PostgreSQL ${perRow(processorTimeUs(postgres.pid) - parts.postgres)}, nats-server ${perRow(processorTimeUs(nats.pid()) - parts.nats)}`;
  const roundCount = rounds - before.rounds;
  await ended(publisher);
  await shard.stop();
  const stored = Number((await pool.query<{ n: string }>('select count(*) as n from check_results')).rows[0]?.n);
  const transitions = Number((await pool.query<{ n: string }>('select count(*) as n from outbox')).rows[0]?.n);
  if (stored !== committedRows) throw new Error(`${stored} rows stored, ${committedRows} committed`);

  say('taking the shard over again');
  const takeoverMs = await timeOf(async () => {
    const committed = Promise.withResolvers<void>();
    const again = startIngest(() => committed.resolve());
    await committed.promise;
    return () => again.stop();
  });

  say('raw COPY of such rows into the same table');
  const copied = await rawCopy(pool, monitors, startUs, now() * 1_000);
  const rate = rows / seconds;
  const figures = {
    ingest_vs_copy: round(rate / copied.rate),
    ingest_us: round(us / rows),
    rows_per_second: Math.round(rate),
    copy_rows_per_second: Math.round(copied.rate),
    copy_us: round(copied.us / copied.rows),
    batch_fill: round(rows / messages),
    rows_per_transaction: Math.round(rows / roundCount),
    takeover_ms: takeoverMs,
    shards: 1,
    rows,
  };
  return {
    figures,
    table: [
      [
        'NATS to committed',
        `${figures.rows_per_second.toLocaleString('en')} rows/s (${rows.toLocaleString('en')} in ${seconds.toFixed(1)} s)`,
      ],
      [
        'raw binary COPY',
        `${figures.copy_rows_per_second.toLocaleString('en')} rows/s of ${rowsPerCopy.toLocaleString('en')}, fsync on`,
      ],
      ['ratio', `${figures.ingest_vs_copy} (goal 0.8)`],
      ['processor time per result', `${figures.ingest_us} µs over all processes (goal 6): ${detail}`],
      ['COPY alone', `${figures.copy_us} µs per row`],
      ['fill', `${figures.batch_fill} results a batch, ${figures.rows_per_transaction} rows a transaction, 1 shard`],
      ['takeover of the shard', `${takeoverMs} ms from the start to the first commit`],
      ['state changes', `${transitions}`],
    ] as const,
  };
}

/** Milliseconds until something is up; it is stopped again afterwards. */
async function timeOf(start: () => Promise<() => Promise<void>>): Promise<number> {
  const startedMs = performance.now();
  const stop = await start();
  const ms = performance.now() - startedMs;
  await stop();
  return Math.round(ms);
}

const round = (value: number): number => Math.round(value * 100) / 100;

function cpu(postgres: number, nats: number): number {
  const own = process.cpuUsage();
  return own.user + own.system + processorTimeUs(postgres) + processorTimeUs(nats);
}

/** COPY of rows like those of the load, one transaction each, later in time, into the same table and index. */
async function rawCopy(pool: pg.Pool, monitors: readonly number[], startUs: number, nowUs: number) {
  const encode = createCopyEncoder();
  const buffers: Buffer[] = [];
  let position = Math.ceil((nowUs - startUs) / (intervalS * 1_000_000)) * monitorCount;
  const order = permutation(monitors, 1);
  for (let index = 0; index < 40; index += 1) {
    const rows = Array.from({ length: rowsPerCopy }, (_, offset): IngestRow => {
      const at = position + Math.floor(offset / probeCount);
      const eUs = startUs + positionUs(at);
      return {
        eUs,
        receivedUs: eUs + 300_000,
        monitorId: order[at % monitorCount] ?? 1,
        voter: 1 + (offset % probeCount),
        probeRevision: 1,
        flags: 0,
        freshS: 160,
        totalUs: 23_000,
        dnsUs: 1_000,
        connectUs: 2_000,
        tlsUs: 12_000,
        firstByteUs: 7_500,
        transferUs: 500,
        error: 0,
        kind: 'scheduled',
        outcome: 'ok',
        evidence: undefined,
      };
    });
    position += Math.floor(rowsPerCopy / probeCount);
    buffers.push(Buffer.from(encode(rows)));
  }
  const client = await pool.connect();
  try {
    let rows = 0;
    let index = 0;
    const startedMs = performance.now();
    const startedUs = process.cpuUsage();
    const backend = (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;
    const backendUs = processorTimeUs(backend);
    while (performance.now() - startedMs < copyMs) {
      const buffer = buffers[index % buffers.length];
      index += 1;
      if (buffer === undefined) break;
      await client.query('begin');
      await new Promise<void>((resolve, reject) => {
        const stream = client.query(copyFrom(copyText));
        stream.on('finish', resolve);
        stream.on('error', reject);
        stream.end(buffer);
      });
      await client.query('commit');
      rows += rowsPerCopy;
    }
    const seconds = (performance.now() - startedMs) / 1_000;
    const own = process.cpuUsage(startedUs);
    return { rows, rate: rows / seconds, us: own.user + own.system + processorTimeUs(backend) - backendUs };
  } finally {
    client.release();
  }
}

function startPublisher(order: PublisherOrder): ChildProcess {
  const child = fork(path.join(import.meta.dirname, 'ingest-publisher.ts'), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.send(order);
  return child;
}

async function ended(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}
