import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { z } from 'zod';
import { addRange } from '../../../../monitoring/testing.ts';
import { sql } from '../../../../platform/database/pools.ts';
import { dayMs, hourMs, iso, minuteMs, reportingApi } from '../../../testing.ts';
import type { ReportingApi } from '../../../testing.ts';
import { chainStart, followChain } from '../chain.ts';
import { closeDays } from './job.ts';

const entryRow = z.object({
  monitor_id: z.number(),
  chain: z.number(),
  seq: z.number(),
  kind: z.string(),
  day: z.string().nullable(),
  entry: z.string(),
  digest: z.instanceof(Buffer),
});
type Entry = z.infer<typeof entryRow>;

async function entriesOf(api: ReportingApi, monitorId: number, chain = 1): Promise<readonly Entry[]> {
  return api.database.worker.any(sql.type(entryRow)`
    select monitor_id, chain, seq, kind, day::text as day, entry, digest from sla_ledger
    where monitor_id = ${monitorId} and chain = ${chain} order by seq`);
}

const contentOf = (entry: Entry | undefined) => JSON.parse(entry?.entry ?? '{}') as Record<string, unknown>;

async function foldedUntil(api: ReportingApi, ms: number): Promise<void> {
  await api.database.worker.query(sql.unsafe`
    insert into shards (shard, folded_until) values (0, ${sql.timestamp(new Date(ms))})
    on conflict (shard) do update set folded_until = excluded.folded_until`);
}

/** Closes what is due; with small batches, so that several are needed. */
const close = (api: ReportingApi, mayGoOn: () => boolean = () => true) =>
  closeDays(api.context, mayGoOn, { monitors: 3, ranges: 4 });

/** The start of the present UTC day. */
const todayMs = (api: ReportingApi) => Math.floor(api.nowMs / dayMs) * dayMs;

void t.test('a day is closed a day after it ended, in order, from the first day of the oldest monitor', async (t) => {
  const api = await reportingApi(t);
  const startMs = todayMs(api) - 4 * dayMs + 6 * hourMs;
  const id = await api.oldMonitor(api.nowMs - startMs);
  await addRange(api.database, { monitorId: id, fromMs: startMs + hourMs, toMs: startMs + 20 * hourMs, status: 'UP' });
  await addRange(api.database, {
    monitorId: id,
    fromMs: startMs + 20 * hourMs,
    toMs: startMs + 21 * hourMs,
    status: 'DOWN',
  });
  await addRange(api.database, { monitorId: id, fromMs: startMs + 21 * hourMs, toMs: null, status: 'UP' });
  await foldedUntil(api, startMs);
  t.equal(await close(api), 0);
  await foldedUntil(api, todayMs(api) - 2 * dayMs - 1);
  t.equal(await close(api), 0, 'the first day has ended a day ago but for a millisecond');
  await foldedUntil(api, todayMs(api) - 2 * dayMs);
  t.equal(await close(api), 1);
  await foldedUntil(api, todayMs(api));
  t.equal(await close(api), 2);
  t.equal(await close(api), 0, 'nothing twice');
  const entries = await entriesOf(api, id);
  t.match(
    entries.map(({ seq, kind, day }) => ({ seq, kind, day })),
    [4, 3, 2].map((ago, index) => ({ seq: index + 1, kind: 'day', day: iso(todayMs(api) - ago * dayMs).slice(0, 10) })),
  );
  t.match(contentOf(entries[0]), {
    kind: 'day',
    monitor_id: id,
    chain: 1,
    seq: 1,
    from: iso(startMs),
    to: iso(todayMs(api) - 3 * dayMs),
    up_ms: 17 * hourMs,
    unknown_ms: hourMs,
    down_ms: 0,
    outages: 0,
  });
  t.match(contentOf(entries[1]), {
    up_ms: 23 * hourMs,
    down_ms: hourMs,
    outages: 1,
    from: iso(todayMs(api) - 3 * dayMs),
  });
  t.equal(followChain(chainStart, entries).brokenAt, null);
});

void t.test('one pass closes many monitors in batches, also where one has more ranges than a batch', async (t) => {
  const api = await reportingApi(t);
  const dayStartMs = todayMs(api) - 2 * dayMs;
  const ids: number[] = [];
  for (let index = 0; index < 7; index += 1) {
    // Older than that day, whatever the time of the present one is.
    ids.push(await api.oldMonitor(api.nowMs - dayStartMs + 6 * hourMs, { name: `m${index}`, is_active: true }));
  }
  for (const [index, monitorId] of ids.entries()) {
    // The fifth has six ranges, more than are read at once: its batch ends before it, and it is read by itself.
    for (let n = 0; n < (index === 4 ? 6 : 1); n += 1) {
      const fromMs = dayStartMs + n * hourMs;
      await addRange(api.database, {
        monitorId,
        fromMs,
        toMs: fromMs + (index + 1) * minuteMs,
        status: n % 2 === 0 ? 'DOWN' : 'UP',
      });
    }
  }
  await foldedUntil(api, todayMs(api));
  t.ok((await close(api)) >= 7);
  for (const [index, id] of ids.entries()) {
    const day = (await entriesOf(api, id)).map(contentOf).find(({ from }) => from === iso(dayStartMs));
    const downs = index === 4 ? 3 : 1;
    t.match(
      day,
      { down_ms: downs * (index + 1) * minuteMs, up_ms: index === 4 ? 15 * minuteMs : 0, outages: downs },
      `monitor ${index}`,
    );
  }
});

void t.test('what late results changed of a closed day is appended once, when no more can come', async (t) => {
  const api = await reportingApi(t);
  const dayStartMs = todayMs(api) - 4 * dayMs;
  const id = await api.oldMonitor(api.nowMs - dayStartMs);
  const other = await api.oldMonitor(api.nowMs - dayStartMs, { name: 'other' });
  for (const monitorId of [id, other]) {
    await addRange(api.database, { monitorId, fromMs: dayStartMs, toMs: dayStartMs + 10 * hourMs, status: 'UP' });
  }
  await foldedUntil(api, dayStartMs + 2 * dayMs);
  t.equal(await close(api), 2);
  await addRange(api.database, {
    monitorId: id,
    fromMs: dayStartMs + 10 * hourMs,
    toMs: dayStartMs + 12 * hourMs,
    status: 'DOWN',
  });
  await foldedUntil(api, dayStartMs + dayMs + 52 * hourMs - 1);
  await close(api);
  t.notOk(
    (await entriesOf(api, id)).some(({ kind }) => kind === 'revision'),
    'more may come',
  );
  await foldedUntil(api, dayStartMs + dayMs + 52 * hourMs);
  await close(api);
  await close(api);
  const entries = await entriesOf(api, id);
  const revisions = entries.filter(({ kind }) => kind === 'revision');
  t.match(revisions.map(contentOf), [
    { day: iso(dayStartMs).slice(0, 10), down_ms: 2 * hourMs, up_ms: 10 * hourMs, outages: 1 },
  ]);
  t.equal(revisions.length, 1);
  t.notOk(
    (await entriesOf(api, other)).some(({ kind }) => kind === 'revision'),
    'what did not change is not told again',
  );
  t.equal(followChain(chainStart, entries).brokenAt, null);
});

void t.test(
  'after a standstill all missing days follow, not more than ninety, and a stop in the middle loses nothing',
  async (t) => {
    const api = await reportingApi(t);
    const id = await api.oldMonitor(200 * dayMs);
    await foldedUntil(api, todayMs(api));
    let steps = 0;
    const some = await close(api, () => (steps += 1) <= 10);
    t.equal(some, 10);
    t.equal(some + (await close(api)), 89, 'from ninety days ago to the day before yesterday');
    const days = (await entriesOf(api, id)).map(({ day }) => day);
    t.same(
      days,
      Array.from({ length: 89 }, (_, index) => iso(todayMs(api) - (90 - index) * dayMs).slice(0, 10)),
    );
  },
);

void t.test('several workers at once append every day once', async (t) => {
  const api = await reportingApi(t);
  const ids = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => api.oldMonitor(8 * dayMs, { name })));
  await foldedUntil(api, todayMs(api));
  await Promise.all(Array.from({ length: 4 }, () => close(api)));
  await close(api);
  for (const id of ids) {
    const entries = await entriesOf(api, id);
    t.equal(new Set(entries.map(({ day }) => day)).size, entries.length);
    t.ok(entries.length >= 6);
    t.equal(followChain(chainStart, entries).brokenAt, null);
  }
});

void t.test('a correction between two days stands between them', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(6 * dayMs);
  await addRange(api.database, { monitorId: id, fromMs: api.nowMs - 6 * dayMs, toMs: null, status: 'DOWN' });
  await foldedUntil(api, todayMs(api) - 2 * dayMs);
  await close(api);
  await foldedUntil(api, api.nowMs);
  const body = {
    started_at: iso(api.nowMs - 3 * dayMs),
    ended_at: iso(api.nowMs - 2 * dayMs),
    counted_as: 'UP',
    reason: 'x',
  };
  const path = `/api/v1/monitors/${id}/sla`;
  t.equal((await api.call('POST', `${path}/corrections`, { token: api.token, body })).status, 201);
  await close(api);
  const entries = await entriesOf(api, id);
  t.match(new Set(entries.map(({ kind }) => kind)), new Set(['day', 'correction']));
  t.equal(entries.at(-1)?.kind, 'day');
  t.equal(followChain(chainStart, entries).brokenAt, null);
  t.match(contentOf(entries.at(-1)), { up_ms: 0, down_ms: dayMs }, 'days are closed as they were measured');
});

void t.test('a reset in a day leaves the part after it, in the new chain; a deleted monitor is left out', async (t) => {
  const api = await reportingApi(t);
  const dayStartMs = todayMs(api) - 2 * dayMs;
  const id = await api.oldMonitor(5 * dayMs);
  const deleted = await api.oldMonitor(5 * dayMs, { name: 'deleted' });
  const resetMs = dayStartMs + 6 * hourMs;
  await addRange(api.database, { monitorId: id, fromMs: dayStartMs, toMs: resetMs + hourMs, status: 'DOWN' });
  await addRange(api.database, { monitorId: id, fromMs: resetMs + 2 * hourMs, toMs: null, status: 'UP' });
  await api.database.worker.query(sql.unsafe`
    update monitors set sla_chain = 2, reset_at = ${sql.timestamp(new Date(resetMs))} where id = ${id}`);
  await api.database.worker.query(sql.unsafe`update monitors set deleted_at = now() where id = ${deleted}`);
  await foldedUntil(api, todayMs(api));
  await close(api);
  t.same(await entriesOf(api, id, 1), []);
  t.same(await entriesOf(api, deleted), []);
  const entries = await entriesOf(api, id, 2);
  t.equal(entries.length, 1, 'days before the reset are in no chain');
  t.match(contentOf(entries[0]), { from: iso(resetMs), unknown_ms: 2 * hourMs, up_ms: 16 * hourMs, down_ms: 0 });
});

void t.test('any change in the table is found by following the chain', async (t) => {
  const api = await reportingApi(t);
  const id = await api.oldMonitor(12 * dayMs);
  await foldedUntil(api, todayMs(api));
  await close(api);
  const entries = await entriesOf(api, id);
  t.equal(followChain(chainStart, entries).brokenAt, null);
  fc.assert(
    fc.property(fc.nat(entries.length - 1), fc.nat(), (index, place) => {
      const entry = entries[index];
      if (entry === undefined) return false;
      const at = place % entry.entry.length;
      const changed = `${entry.entry.slice(0, at)}${entry.entry[at] === '1' ? '2' : '1'}${entry.entry.slice(at + 1)}`;
      return followChain(chainStart, entries.with(index, { ...entry, entry: changed })).brokenAt === index + 1;
    }),
  );
});
