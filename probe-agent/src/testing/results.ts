import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from '@parallax/testkit';
import type { ResultRecord } from '@parallax/wire';
import { silentLogger } from '../ports.ts';
import { ResultLog } from '../results/log.ts';
import type { LogOptions } from '../results/log-options.ts';
import type { LogStream } from '../results/stream.ts';

const startUs = 1_750_000_000_000_000;

/** A result that can be told from others by its monitor. */
export function aResult(monitorId: number, changes: Partial<ResultRecord> = {}): ResultRecord {
  return {
    monitorId,
    effectiveUs: startUs + monitorId * 1_000,
    probeRevision: 1,
    kind: 'scheduled',
    outcome: 'ok',
    source: undefined,
    error: 0,
    freshS: 155,
    totalUs: 1_234,
    dnsUs: undefined,
    connectUs: 100,
    tlsUs: undefined,
    firstByteUs: 200,
    transferUs: 0,
    evidence: undefined,
    ...changes,
  };
}

/** A folder that is removed with the test. */
export function scratchFolder(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-log-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A log on a folder with time that stands still; it fails the test's process when the disk fails unless `onFatal` is given. */
export function openLog(folder: string, changes: Partial<LogOptions> = {}): Promise<ResultLog> {
  return ResultLog.open({
    folder,
    bootId: 'boot-1',
    monotonicUs: () => 5_000_000,
    wallMs: () => startUs / 1_000,
    logger: silentLogger,
    onFatal: (error) => {
      throw error;
    },
    ...changes,
    limits: { syncAfterMs: 1, acknowledgedAfterMs: 1, ...changes.limits },
  });
}

/** Everything that a stream would publish from a number on: results by number, and what is lost. */
export async function readAll(log: ResultLog, stream: LogStream, fromSeq = stream.acknowledged + 1) {
  const results = new Map<number, ResultRecord>();
  const lost: { from: number; to: number }[] = [];
  let seq = fromSeq;
  for (;;) {
    const read = await log.read(stream, seq);
    if (read === undefined) return { results, lost, next: seq };
    if (read.lost !== undefined) {
      lost.push({ from: read.lost.fromSeq, to: read.lost.toSeq });
      seq = read.lost.toSeq + 1;
    } else {
      for (const result of read.results) {
        results.set(seq, result);
        seq += 1;
      }
    }
  }
}
