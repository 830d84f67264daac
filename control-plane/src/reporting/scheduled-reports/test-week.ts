import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ScheduledReport } from '@parallax/api-contract';
import { addRanges, addResults } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { dayMs, hourMs, minuteMs } from './testing.ts';
import type { ReportsApi } from './testing.ts';

/** The time of the next weekly run of a report, and the week that it reports on. */
export function nextWeek({ next_run_at: nextRun }: ScheduledReport) {
  const dueMs = Date.parse(nextRun ?? '');
  const toMs = Math.floor(dueMs / dayMs) * dayMs;
  return { dueMs, fromMs: toMs - 7 * dayMs, toMs };
}

const names = ['Shop checkout', 'Оплата заказов', 'Search <b>API</b>', 'Mail relay', 'Landing page'];

/**
 * Monitors that were made long ago and have measured two weeks up to an instant: every second one had outages in both of them, and all of them answer
 * once in four hours. @returns their identifiers
 */
export async function measuredMonitors(api: ReportsApi, count: number, toMs: number): Promise<readonly number[]> {
  const { worker } = api.database;
  const ids = [...(await api.manyMonitors(count))];
  await worker.query(sql.unsafe`
    update monitors m set created_at = now() - interval '100 days', name = g.name
    from ${sql.unnest(
      ids.map((id, index) => [id, `${names[index % names.length] ?? ''}${index < names.length ? '' : ` ${index}`}`]),
      ['int4', 'text'],
    )} as g (id, name) where m.id = g.id`);
  const startMs = toMs - 14 * dayMs;
  const ranges = ids.flatMap((monitorId, index) => {
    if (index % 2 === 1) return [{ monitorId, fromMs: startMs, toMs: null, status: 'UP' as const }];
    const lengthMs = (10 + index) * minuteMs;
    const first = { fromMs: startMs + 2 * dayMs, toMs: startMs + 2 * dayMs + 5 * minuteMs };
    const second = { fromMs: toMs - 3 * dayMs + 5 * hourMs, toMs: toMs - 3 * dayMs + 5 * hourMs + lengthMs };
    return [
      { monitorId, fromMs: startMs, toMs: first.fromMs, status: 'UP' as const },
      { monitorId, ...first, status: 'TIMEOUT' as const },
      { monitorId, fromMs: first.toMs, toMs: second.fromMs, status: 'UP' as const },
      { monitorId, ...second, status: 'DOWN' as const },
      { monitorId, fromMs: second.toMs, toMs: null, status: 'UP' as const },
    ];
  });
  await addRanges(api.database, ranges);
  await addResults(
    api.database,
    ids.flatMap((monitorId, index) =>
      Array.from({ length: 84 }, (_, step) => ({
        monitorId,
        probeId: 0,
        central: true,
        atMs: startMs + (step + 0.5) * 4 * hourMs,
        totalUs: 20_000 + 1_000 * ((index * 7 + step * 13) % 60),
      })),
    ),
  );
  return ids;
}

/** `PARALLAX_SAMPLES=folder` keeps the files that tests make, to be looked at. */
const samples = process.env['PARALLAX_SAMPLES'];

export function keep(name: string, content: string | Uint8Array): void {
  if (samples === undefined) return;
  mkdirSync(samples, { recursive: true });
  writeFileSync(path.join(samples, name), content);
}

/** A report of the owner and of a reader of Russian who has agreed, and its week. */
export async function weekly(api: ReportsApi, body: Record<string, unknown> = {}) {
  const report = await api.report({
    name: 'Shop',
    slo_target: 99.9,
    formats: ['pdf', 'csv'],
    recipients: [{ address: 'owner@example.com' }, { address: 'reader@example.com', locale: 'ru' }],
    ...body,
  });
  await api.database.worker.query(sql.unsafe`
    update channel_targets set confirmed_at = now() where target = 'reader@example.com'`);
  await api.send();
  return { report, ...nextWeek(report) };
}
