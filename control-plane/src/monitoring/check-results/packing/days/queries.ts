import type { Logger } from '@parallax/telemetry';
import { decodeChunk } from '../../packed/chunk.ts';
import { encodeSummary, mergeSummaries, RunningSummary, SummaryError } from '../../packed/summary.ts';
import { dayOfHour, hoursOfDay } from '../hours.ts';
import type { Packing } from '../queries.ts';

/** A day of a monitor that is to be merged from its packed hours. */
export type WantedDay = { readonly monitorId: number; readonly day: number };

type Merged = WantedDay & { readonly probeId: number; results: number; readonly summary: RunningSummary };

type HourTuple = [monitorId: number, hour: number, probeId: number, results: number, summary: Buffer];

/**
 * Merges days of monitors from their packed hours as they are now: what is there of them is replaced, and a day without results has no row
 * afterwards. Hours of before a reset are void, whether or not they are removed already. A damaged summary is taken from its chunk instead; one whose chunk is damaged too is left out, which the log says.
 */
export async function mergeDays(packing: Packing, wanted: readonly WantedDay[], log: Logger): Promise<void> {
  if (wanted.length === 0) return;
  const { client } = packing;
  const found = await client.query<HourTuple>({
    text: `select h.monitor_id, h.hour, h.probe_id, h.results, h.summary from result_hours h
      join unnest($1::integer[], $2::integer[]) as w (monitor_id, day)
        on h.monitor_id = w.monitor_id and h.hour >= w.day * ${hoursOfDay} and h.hour < (w.day + 1) * ${hoursOfDay}
      join monitors m on m.id = w.monitor_id
      where h.hour >= $3 and h.hour < $4 and (m.reset_at is null or h.hour >= floor(extract(epoch from m.reset_at) / 3600))`,
    values: [...dayKeys(wanted), ...hourBounds(wanted)],
    rowMode: 'array',
  });
  const days = new Map<string, Merged>();
  for (const tuple of found.rows) {
    const [monitorId, hour, probeId, results] = tuple;
    const key = `${monitorId} ${dayOfHour(hour)} ${probeId}`;
    const known = days.get(key);
    const merged = known ?? { monitorId, day: dayOfHour(hour), probeId, results: 0, summary: new RunningSummary() };
    if (known === undefined) days.set(key, merged);
    merged.results += results;
    await addHour(packing, merged.summary, tuple, log);
  }
  await write(packing, wanted, [...days.values()]);
}

async function addHour(packing: Packing, into: RunningSummary, tuple: HourTuple, log: Logger): Promise<void> {
  const [monitorId, hour, probeId, , bytes] = tuple;
  const summary = new RunningSummary();
  try {
    summary.addEncoded(bytes);
  } catch (error) {
    if (!(error instanceof SummaryError)) throw error;
    log.error(
      { err: error, monitorId, hour, probeId },
      'the summary of a packed hour is damaged; see control-plane recompute',
    );
    const rows = await rowsOfChunk(packing, tuple, log);
    if (rows === undefined) return;
    summary.clear();
    summary.addRows(rows);
  }
  into.add(summary);
}

async function rowsOfChunk({ client }: Packing, [monitorId, hour, probeId]: HourTuple, log: Logger) {
  const found = await client.query<{ chunk: Buffer }>(
    'select chunk from result_hours where monitor_id = $1 and hour = $2 and probe_id = $3',
    [monitorId, hour, probeId],
  );
  try {
    return decodeChunk(found.rows[0]?.chunk ?? Buffer.alloc(0));
  } catch (error) {
    log.error(
      { err: error, monitorId, hour, probeId },
      'the chunk of a packed hour is damaged too: its day is merged without it',
    );
    return undefined;
  }
}

/** The hours that all of these days lie in tell the planner which partitions there is nothing in. */
function hourBounds(wanted: readonly WantedDay[]): [number, number] {
  const first = wanted.reduce((least, { day }) => Math.min(least, day), Number.MAX_SAFE_INTEGER);
  const last = wanted.reduce((most, { day }) => Math.max(most, day), 0);
  return [first * hoursOfDay, (last + 1) * hoursOfDay];
}

const dayKeys = (wanted: readonly WantedDay[]): [number[], number[]] => [
  wanted.map(({ monitorId }) => monitorId),
  wanted.map(({ day }) => day),
];

const writeText = `
  insert into result_days (monitor_id, day, probe_id, results, summary, median_us)
  select * from unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[], $5::bytea[], $6::integer[])
  on conflict (monitor_id, day, probe_id) do update
    set results = excluded.results, summary = excluded.summary, median_us = excluded.median_us`;

const removeText = `
  delete from result_days d using unnest($1::integer[], $2::integer[]) as w (monitor_id, day)
  where d.monitor_id = w.monitor_id and d.day = w.day
    and (d.monitor_id, d.day, d.probe_id) not in (select * from unnest($3::integer[], $4::integer[], $5::integer[]))`;

async function write({ client }: Packing, wanted: readonly WantedDay[], days: readonly Merged[]): Promise<void> {
  const keys = [days.map(({ monitorId }) => monitorId), days.map(({ day }) => day), days.map(({ probeId }) => probeId)];
  await client.query(removeText, [...dayKeys(wanted), ...keys]);
  if (days.length === 0) return;
  const medians = mediansOf(days);
  await client.query(writeText, [
    ...keys,
    days.map(({ results }) => results),
    days.map(({ summary }) => encodeSummary(summary)),
    days.map((day) => medians.get(day) ?? null),
  ]);
}

/** The median of each day of a monitor, by the row that it is stored in: that of the first probe. */
function mediansOf(days: readonly Merged[]): ReadonlyMap<Merged, number> {
  const medians = new Map<Merged, number>();
  for (const own of Map.groupBy(days, ({ monitorId, day }) => `${monitorId} ${day}`).values()) {
    const first = own.reduce((least, one) => (one.probeId < least.probeId ? one : least));
    const { latency } = own.length === 1 ? first.summary : mergeSummaries(own.map(({ summary }) => summary));
    const medianUs = latency.timed().quantile(0.5);
    medians.set(first, medianUs === null ? nothingTimed : Math.round(medianUs));
  }
  return medians;
}

/** Stands for the median of a day on which no check took time; null stands for one that is not known. */
const nothingTimed = -1;
