import t from 'tap';
import { insertMonitors, insertWorkspace } from '../../../monitoring/check-results/ingest/testing/fixture.ts';
import { encodeSummary, mergeSummaries, RunningSummary } from '../../../monitoring/check-results/index.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { responseTimesOf } from './response-times.queries.ts';
import { medianTimes } from './response-times.ts';

const dayMs = 86_400_000;
const today = 20_700;
const nowMs = today * dayMs + 7.5 * 3_600_000;
const dates = Array.from({ length: 10 }, (_, place) =>
  new Date((today - 9 + place) * dayMs).toISOString().slice(0, 10),
);

type Sum = { readonly id: number; readonly at: number; readonly probe: number; readonly summary: RunningSummary };

function summaryOf(seed: number, count: number): RunningSummary {
  const summary = new RunningSummary();
  for (let n = 0; n < count; n += 1) summary.addRow(0, 1_000 * (1 + ((seed * 7_919 + n * 104_729) % 997)));
  return summary;
}

const medianOf = (parts: readonly RunningSummary[]): number | null => {
  const us = mergeSummaries(parts).latency.timed().quantile(0.5);
  return us === null ? null : Math.round(us) / 1_000;
};

void t.test(
  'medians are those of all sums of a day, be they stored, older than the column or of hours alone',
  async (t) => {
    const { database } = await testDatabase(t);
    const { raw } = database;
    const owner = await insertWorkspace(raw);
    const [first = 0, second = 0, reset = 0, silent = 0] = await insertMonitors(raw, owner, {
      count: 4,
      probes: [],
      createdMs: nowMs - 30 * dayMs,
    });
    await raw.query('select ensure_packed_partitions($1, $2)', [(today - 12) * 24, (today + 1) * 24]);
    // Days up to the one before yesterday; the last of them was merged before medians were stored.
    const days: Sum[] = [first, second, reset].flatMap((id) =>
      Array.from({ length: 8 }, (_, place) => today - 9 + place).flatMap((day) =>
        [1, 2, 3].map((probe) => ({ id, at: day, probe, summary: summaryOf(id * day + probe, 40 + probe) })),
      ),
    );
    days.push({ id: silent, at: today - 5, probe: 2, summary: summaryOf(1, 0) });
    const hours: Sum[] = [first, second, reset].flatMap((id) =>
      Array.from({ length: 24 + 7 }, (_, place) => (today - 1) * 24 + place).flatMap((hour) =>
        [1, 2].map((probe) => ({ id, at: hour, probe, summary: summaryOf(id + hour + probe, 20) })),
      ),
    );
    // Hours of a day that is merged already say nothing more.
    hours.push({ id: first, at: (today - 2) * 24 + 1, probe: 1, summary: summaryOf(99, 500) });
    for (const { id, at, probe, summary } of days) {
      const own = days.filter((one) => one.id === id && one.at === at);
      const median = medianOf(own.map((one) => one.summary));
      const isStored = probe === own[0]?.probe && at !== today - 2;
      await raw.query(
        'insert into result_days (monitor_id, day, probe_id, results, summary, median_us) values ($1, $2, $3, 1, $4, $5)',
        [id, at, probe, encodeSummary(summary), isStored ? (median === null ? -1 : Math.round(median * 1_000)) : null],
      );
    }
    for (const { id, at, probe, summary } of hours)
      await raw.query(
        `insert into result_hours (monitor_id, hour, probe_id, results, summary, chunk) values ($1, $2, $3, 1, $4, '')`,
        [id, at, probe, encodeSummary(summary)],
      );
    await raw.query('update monitors set reset_at = $1 where id = $2', [
      new Date((today - 4) * dayMs + 3_600_000),
      reset,
    ]);

    const read = (alone: readonly number[], together: readonly number[], workspaceIds = [owner.workspaceId]) =>
      inScope(database.api, { userId: null, workspaceIds }, (tx) =>
        responseTimesOf(
          { userId: null, workspaceIds },
          tx,
          { alone, together },
          { fromMs: nowMs - 9 * dayMs, toMs: nowMs },
        ),
      );
    const expected = (ids: readonly number[], sinceDay = 0) =>
      dates.map((_, place) => {
        const day = today - 9 + place;
        if (day < sinceDay) return null;
        const own = days.filter(({ id, at }) => ids.includes(id) && at === day);
        const parts =
          own.length > 0 ? own : hours.filter(({ id, at }) => ids.includes(id) && Math.floor(at / 24) === day);
        return medianOf(parts.map(({ summary }) => summary));
      });
    const known = await read([first, second, reset, silent], [first, second]);
    t.ok(
      expected([first]).every((ms) => ms !== null),
      'there is something of every day',
    );
    t.same(medianTimes([first], known, dates), expected([first]));
    t.same(medianTimes([second], known, dates), expected([second]));
    t.same(medianTimes([first, second], known, dates), expected([first, second]), 'together they are put together');
    t.same(
      medianTimes([reset], known, dates),
      expected([reset], today - 3),
      'nothing is told of the time before a reset',
    );
    t.same(
      medianTimes([silent], known, dates),
      dates.map(() => null),
    );
    t.equal(known.medians.get(first)?.get(today - 3), Math.round((expected([first])[6] ?? 0) * 1_000), 'it is stored');
    t.same(
      medianTimes([first], await read([first], []), dates),
      expected([first]),
      'also where no component needs them together',
    );
    t.same(
      await read([first], [second], [owner.workspaceId + 1]),
      { medians: new Map(), summaries: new Map() },
      'those of other workspaces are not read',
    );
  },
);
