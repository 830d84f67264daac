import type pg from 'pg';
import { ResultColumns } from '../../packed/columns.ts';
import { RunningSummary } from '../../packed/summary.ts';
import { dayOfHour, hoursOfDay, hourUs } from '../../packing/hours.ts';
import { lastColumn } from '../../packing/hours/queries.ts';
import { judgeDay, judgeHour } from '../hour-differences.ts';
import type { PackedDifference, StoredHour } from '../hour-differences.ts';
import type { Place } from '../place/queries.ts';
import { copyRows } from '../results/queries.ts';

type PackedLook = { readonly differences: PackedDifference[]; readonly lostUntilUs: number };

/** Compares packed hours with their results, and days with their hours: those that lie wholly in the window and that nobody is to pack again. */
export async function lookAtPacked(
  client: pg.ClientBase,
  place: Place,
  fromUs: number,
  untilUs: number,
): Promise<PackedLook> {
  // Before the beginning there is nothing, so what begins in the middle of an hour or a day is judged whole.
  const isFromBegin = fromUs === place.floorUs;
  const firstHour = isFromBegin ? Math.floor(fromUs / hourUs) : Math.ceil(fromUs / hourUs);
  const untilHour = Math.min(Math.floor(untilUs / hourUs), place.closedHour);
  const pending = await pendingOf(client, place);
  const differences: PackedDifference[] = [];
  let lostUntilUs = Number.NEGATIVE_INFINITY;
  for (let day = dayOfHour(firstHour); day * hoursOfDay < untilHour; day += 1) {
    const isWhole = (isFromBegin || day * hoursOfDay >= firstHour) && (day + 1) * hoursOfDay <= untilHour;
    const judged = await judgeHoursOf(client, place, pending, {
      first: Math.max(firstHour, day * hoursOfDay),
      until: Math.min(untilHour, (day + 1) * hoursOfDay),
    });
    differences.push(...judged.differences);
    for (const lost of judged.differences) if (!lost.isHealable) lostUntilUs = (lost.at + 1) * hourUs;
    if (isWhole && judged.isWhole && !pending.days.has(day)) {
      differences.push(...(await judgeDayOf(client, place, day, judged.summaries)));
    }
  }
  return { differences, lostUntilUs };
}

type Pending = { readonly hours: ReadonlySet<number>; readonly days: ReadonlySet<number> };

/** Hours and days of the monitor that are to be packed yet, or again. */
async function pendingOf(client: pg.ClientBase, { monitorId, shard }: Place): Promise<Pending> {
  const found = await client.query<{ kind: string; at: number }>(
    `select kind, at from packing_jobs where shard = $2 and next_monitor_id <= $1
     union select 'hour', hour from stale_hours where monitor_id = $1
     union select 'day', hour / ${hoursOfDay} from stale_hours where monitor_id = $1`,
    [monitorId, shard],
  );
  const of = (kind: string): Set<number> => new Set(found.rows.filter((row) => row.kind === kind).map(({ at }) => at));
  return { hours: of('hour'), days: of('day') };
}

type JudgedHours = {
  readonly differences: PackedDifference[];
  /** By probe. */
  readonly summaries: ReadonlyMap<number, RunningSummary>;
  /** False when an hour was left out or its results are lost. */
  readonly isWhole: boolean;
};

async function judgeHoursOf(
  client: pg.ClientBase,
  place: Place,
  pending: Pending,
  { first, until }: { readonly first: number; readonly until: number },
): Promise<JudgedHours> {
  const found = await client.query<StoredHour>(
    `select hour, probe_id as "probeId", results, ${lastColumn('h')}, summary, chunk from result_hours h
     where monitor_id = $1 and hour >= $2 and hour < $3`,
    [place.monitorId, first, until],
  );
  const stored = Map.groupBy(found.rows, ({ hour }) => hour);
  const hotFromHour = Math.max(first, Math.floor(place.hotFromUs / hourUs));
  const copied = hotFromHour < until ? await copyRows(client, place, hotFromHour, until) : [];
  const rowsOf = Map.groupBy(copied, ({ hour }) => hour);
  const differences: PackedDifference[] = [];
  const summaries = new Map<number, RunningSummary>();
  let isWhole = true;
  for (let hour = first; hour < until; hour += 1) {
    if (pending.hours.has(hour)) {
      isWhole = false;
      continue;
    }
    const hot = new Map((rowsOf.get(hour) ?? []).map(({ probeId, rows }) => [probeId, rows]));
    for (const probeId of new Set([...(stored.get(hour) ?? []).map((one) => one.probeId), ...hot.keys()])) {
      const rows = hour < hotFromHour ? undefined : (hot.get(probeId) ?? new ResultColumns());
      const judged = judgeHour(
        { hour, probeId },
        rows,
        stored.get(hour)?.find((one) => one.probeId === probeId),
      );
      differences.push(...judged.differences);
      if (judged.summary === undefined) isWhole = false;
      else sumOf(summaries, probeId).add(judged.summary);
    }
  }
  return { differences, summaries, isWhole };
}

function sumOf(summaries: Map<number, RunningSummary>, probeId: number): RunningSummary {
  const sum = summaries.get(probeId) ?? new RunningSummary();
  summaries.set(probeId, sum);
  return sum;
}

async function judgeDayOf(
  client: pg.ClientBase,
  place: Place,
  day: number,
  summaries: ReadonlyMap<number, RunningSummary>,
): Promise<PackedDifference[]> {
  const found = await client.query<{ probe_id: number; results: number; summary: Buffer }>(
    'select probe_id, results, summary from result_days where monitor_id = $1 and day = $2',
    [place.monitorId, day],
  );
  const stored = new Map(found.rows.map((row) => [row.probe_id, row]));
  return [...new Set([...summaries.keys(), ...stored.keys()])].flatMap((probeId) =>
    judgeDay({ day, probeId }, summaries.get(probeId) ?? new RunningSummary(), stored.get(probeId)),
  );
}
