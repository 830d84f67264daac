import { listResultsRoute, timelineSchema } from '@parallax/api-contract';
import { packFlags } from '@parallax/wire';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { storeHistory } from '../../check-results/reading/testing/stored-history.ts';
import type { HistoryRow } from '../../check-results/reading/testing/stored-history.ts';
import { addProbe, addRange, monitorsApi } from '../../testing.ts';
import type { MonitorsApi } from '../../testing.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const result = (atMs: number, probeId: number, more: Partial<HistoryRow> = {}): HistoryRow => ({
  probeId,
  eUs: atMs * 1_000,
  receivedUs: atMs * 1_000 + 300_000,
  probeRevision: 1,
  flags: packFlags('scheduled', 'ok', undefined),
  freshS: 160,
  totalUs: 20_500,
  dnsUs: 500,
  connectUs: 10_000,
  tlsUs: null,
  firstByteUs: 9_000,
  transferUs: 900,
  error: 0,
  ...more,
});

/** Every so often a result from some days ago until now, all but those of the last two days packed. */
async function store(api: MonitorsApi, monitorId: number, rows: readonly HistoryRow[]): Promise<void> {
  const packedUntilHour = Math.floor(Date.now() / hourMs) - 1;
  await storeHistory(api.database.raw, monitorId, rows, {
    packedUntilHour,
    // A day is merged when all of its hours are packed: in the first hour of a day yesterday is not.
    mergedUntilDay: Math.floor(packedUntilHour / 24),
    hotFromUs: (Math.floor(Date.now() / dayMs) - 2) * dayMs * 1_000,
  });
}

const every = (stepMs: number, days: number, probeId: number): HistoryRow[] =>
  Array.from({ length: Math.floor((days * dayMs) / stepMs) }, (_, index) =>
    result(Math.floor(Date.now() / 1_000) * 1_000 - (index + 1) * stepMs, probeId),
  ).toReversed();

const get = async (api: MonitorsApi, path: string) => {
  const answer = await api.call('GET', path, { token: api.token });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const setPlan = (api: MonitorsApi, plan: string) =>
  api.database.worker.query(sql.unsafe`update users set plan = ${plan}`);

void t.test('results are listed as long as the plan of the owner keeps them, wherever they are stored', async (t) => {
  const api = await monitorsApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const { id } = await api.monitor();
  await store(api, id, every(hourMs, 100, probe));
  const path = `/api/v1/monitors/${id}/results`;
  for (const [plan, days] of [
    ['free', 30],
    ['paid', 90],
    ['self_hosted', 90],
  ] as const) {
    await setPlan(api, plan);
    const first = listResultsRoute.success.answer?.parse(await get(api, `${path}?page_size=100`));
    // From a whole hour on: one more where the results of an hour begin after its beginning.
    t.ok(first !== undefined && [days * 24, days * 24 + 1].includes(first.total), `${plan}: ${first?.total}`);
    const pages = Math.ceil((first?.total ?? 0) / 100);
    const seen = new Set<string>();
    for (let page = 1; page <= pages; page += 1) {
      const one = listResultsRoute.success.answer?.parse(await get(api, `${path}?page_size=100&page=${page}`));
      for (const item of one?.results ?? []) seen.add(item.created_at);
      t.equal(one?.total, first?.total);
    }
    t.equal(seen.size, first?.total, 'each once');
    t.match(await get(api, `${path}?page=10000&page_size=100`), { results: { length: 0 } });
  }
  const old = await get(api, `${path}?page_size=1&page=1500`);
  t.match(old, {
    results: [
      {
        probe_id: probe,
        response_time_ms: 20.5,
        phases: { dns_ms: 0.5, connect_ms: 10, tls_ms: null, first_byte_ms: 9, transfer_ms: 0.9 },
        status: 'UP',
      },
    ],
  });
});

void t.test('nothing of before a reset is shown, packed or not', async (t) => {
  const api = await monitorsApi(t);
  const probe = await addProbe(api.database, 'p', 'eu');
  const { id } = await api.monitor({ probe_ids: [probe] });
  const rows = every(10 * 60_000, 12, probe);
  await store(api, id, rows);
  for (const ago of [5 * dayMs + 123_456, dayMs + 5, 20 * 60_000]) {
    const resetMs = Date.now() - ago;
    await api.database.worker.query(sql.unsafe`
      update monitors set reset_at = ${sql.timestamp(new Date(resetMs))} where id = ${id}`);
    const left = rows.filter((row) => row.eUs >= resetMs * 1_000).length;
    t.match(await get(api, `/api/v1/monitors/${id}/results?page_size=1`), { total: left });
    const timeline = timelineSchema.parse(await get(api, `/api/v1/monitors/${id}/timeline?hours=720`));
    t.equal(timeline.timeline.length, left);
  }
});

void t.test(
  'the timeline of thirty days has every result, packed or not, with what its probe made of it',
  async (t) => {
    const api = await monitorsApi(t);
    const probe = await addProbe(api.database, 'p', 'eu');
    const { id } = await api.monitor({ probe_ids: [probe] });
    const failsFromMs = Date.now() - 10 * dayMs;
    const failsToMs = failsFromMs + 5 * hourMs;
    const rows = every(5 * 60_000, 45, probe).map((row) => {
      const isFailing = row.eUs >= failsFromMs * 1_000 && row.eUs < failsToMs * 1_000;
      return isFailing ? { ...row, flags: packFlags('scheduled', 'fail', 'target'), error: 11 } : row;
    });
    await store(api, id, rows);
    // The first failure is not confirmed.
    await addRange(api.database, {
      monitorId: id,
      probeId: probe,
      fromMs: failsFromMs + 6 * 60_000,
      toMs: failsToMs,
      status: 'DOWN',
    });
    const shown = timelineSchema.parse(await get(api, `/api/v1/monitors/${id}/timeline?hours=720`));
    const inWindow = rows.filter(
      (row) => row.eUs >= Date.parse(shown.from) * 1_000 && row.eUs <= Date.parse(shown.to) * 1_000,
    );
    t.equal(shown.merged, false);
    t.equal(shown.timeline.length, inWindow.length);
    t.ok(inWindow.length > 8_600);
    t.same(
      shown.timeline.map((entry) => entry.started_at),
      inWindow.map((row) => new Date(Math.floor(row.eUs / 1_000)).toISOString()),
    );
    const count = (status: string) => shown.timeline.filter((entry) => entry.status === status).length;
    const failing = rows.filter((row) => row.error !== 0);
    const confirmed = failing.filter((row) => row.eUs >= (failsFromMs + 6 * 60_000) * 1_000);
    t.equal(count('DOWN'), confirmed.length);
    t.equal(count('transient'), failing.length - confirmed.length);
    t.ok(failing.length > confirmed.length && confirmed.length > 50);

    const day = timelineSchema.parse(await get(api, `/api/v1/monitors/${id}/timeline?hours=240`));
    t.ok(day.timeline.length < shown.timeline.length);
  },
);
