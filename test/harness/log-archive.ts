import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { endOfRecord, readResult, recordTypes, typeAt } from '../../probe-agent/src/results/record.ts';
import { decodeHeader, headerBytes } from '../../probe-agent/src/results/segment.ts';

/** A result as the probe has it in its log; `effectiveUs` is 0 where its place in server time was not known when it was logged. */
export type ArchivedResult = {
  readonly epoch: number;
  readonly shard: number;
  readonly seq: number;
  readonly monitorId: number;
  readonly effectiveUs: number;
};

/**
 * Keeps what an agent logs beyond its own deletion: every segment gets a second name in another folder. Segments are only
 * appended to and unlinked, so the second name holds all that was ever written, whatever the agent did afterwards.
 */
export function archiveLog(
  stateDir: string,
  archiveDir: string,
): { readonly results: () => ArchivedResult[]; readonly stop: () => void } {
  mkdirSync(archiveDir, { recursive: true });
  const collect = (): void => {
    for (const file of readdirSync(stateDir, { recursive: true, encoding: 'utf8' })) {
      if (!/segment-\d+\.log$/.test(file)) continue;
      const kept = path.join(archiveDir, path.basename(file));
      try {
        if (!existsSync(kept)) linkSync(path.join(stateDir, file), kept);
      } catch {
        // Deleted since the folder was listed: a segment that lived less than the interval held nothing that was not acknowledged before.
      }
    }
  };
  const timer = setInterval(collect, 50);
  return {
    stop: () => clearInterval(timer),
    results: () => {
      collect();
      return readdirSync(archiveDir)
        .sort()
        .flatMap((name) => readSegment(readFileSync(path.join(archiveDir, name))));
    },
  };
}

function readSegment(bytes: Buffer): ArchivedResult[] {
  const header = decodeHeader(bytes);
  if (header === undefined) return [];
  const results: ArchivedResult[] = [];
  let offset = headerBytes;
  for (;;) {
    const end = endOfRecord(bytes, offset, header.salt);
    // What was cut off was never synced, so it was never published.
    if (end === undefined) return results;
    if (typeAt(bytes, offset) === recordTypes.result) {
      const logged = readResult(bytes, offset, end);
      if (logged !== undefined) {
        const { monitorId, effectiveUs } = logged.result;
        results.push({ epoch: header.epoch, shard: logged.shard, seq: logged.seq, monitorId, effectiveUs });
      }
    }
    offset = end;
  }
}
