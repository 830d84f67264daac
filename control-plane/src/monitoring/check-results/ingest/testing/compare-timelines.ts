import type pg from 'pg';
import { ranges, timeline } from '../../../consensus/index.ts';
import type { RangeRun, StoredRange } from '../../../consensus/index.ts';
import { readMonitors } from '../queries.ts';
import { readWindows } from '../windows/queries.ts';

/**
 * For tests: what is wrong with the stored timelines and statuses of a shard, against the batch form of consensus over all stored
 * results up to the shard's mark. Empty when every range of every monitor and voter is the one that the batch form gives.
 */
export async function compareTimelines(pool: pg.Pool, probeIds: readonly number[], shard = 0): Promise<string[]> {
  const complaints: string[] = [];
  const mark = await pool.query<{ us: string }>(
    'select extract(epoch from folded_until) * 1000000 as us from shards where shard = $1',
    [shard],
  );
  const untilUs = Math.floor(Number(mark.rows[0]?.us)) + 1;
  for (const monitor of (await readMonitors(pool, shard)).values()) {
    const { createdUs } = monitor.inputs;
    const wanted = { monitorId: monitor.monitorId, horizonUs: createdUs, backUs: 0, voters: [...probeIds] };
    const stored = (await readWindows(pool, [wanted])).get(monitor.monitorId);
    if (stored === undefined) {
      complaints.push(`monitor ${monitor.monitorId} has no window`);
      continue;
    }
    const whole = timeline(monitor.inputs, stored.results, createdUs, untilUs);
    const kept = [...stored.storedRanges, ...stored.storedProbeRanges];
    for (const voter of [null, ...probeIds]) {
      const segments = voter === null ? whole.segments : (whole.perVoter.get(voter) ?? []);
      const expected = told(ranges(segments), createdUs, untilUs);
      const found = shown(
        kept.filter((range) => range.voter === voter),
        createdUs,
      );
      if (expected !== found) {
        complaints.push(
          `monitor ${monitor.monitorId}, voter ${voter ?? 'all'}: should be [${expected}], is [${found}]`,
        );
      }
    }
    const status = whole.segments.at(-1)?.status;
    if (monitor.status !== status) {
      complaints.push(`monitor ${monitor.monitorId}: its status should be ${status}, is ${monitor.status}`);
    }
  }
  return complaints;
}

function told(runs: readonly RangeRun[], createdUs: number, untilUs: number): string {
  return runs
    .map(({ status, fromUs, toUs }) => `${status} ${fromUs - createdUs} ${toUs >= untilUs ? 'open' : toUs - createdUs}`)
    .join(', ');
}

function shown(rows: readonly StoredRange[], createdUs: number): string {
  return rows
    .toSorted((a, b) => a.startedUs - b.startedUs)
    .map(
      ({ status, startedUs, endedUs }) =>
        `${status} ${startedUs - createdUs} ${endedUs === null ? 'open' : endedUs - createdUs}`,
    )
    .join(', ');
}
