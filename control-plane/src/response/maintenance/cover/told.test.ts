import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { workOnce } from '../../../platform/outbox/worker.ts';
import { incidentsCapability } from '../../incidents/index.ts';
import { tellDue } from '../../incidents/job.ts';
import { dueEnds, dueStarts, endOccurrence, startOccurrence } from '../claims/queries.ts';
import { hourMs, iso, maintenanceApi, minuteMs } from '../testing.ts';
import { finishReleased, joinOccurrences, releaseSome } from './queries.ts';

/* Transactions of every worker in any order, some at once, others never: as if whoever was to do the next one had died. */

const which = fc.integer({ min: 0, max: 1 });
const single = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('down' as const), which }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('up' as const), which }) },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constantFrom('clock', 'join', 'release', 'release_all', 'finish', 'consume', 'tell'),
      which,
    }),
  },
);
const step = fc.record({
  minutes: fc.constantFrom(0, 0, 0, 5, 20),
  acts: fc.array(single, { minLength: 1, maxLength: 2 }),
});
const window = fc.record({
  which,
  from: fc.integer({ min: 0, max: 12 }).map((n) => n * 5),
  length: fc.integer({ min: 1, max: 16 }).map((n) => n * 5),
});
type Act = typeof single extends fc.Arbitrary<infer Value> ? Value : never;

const openedRow = z.object({ n: z.string(), monitor_id: z.number() });
const endRow = z.object({
  status: z.string(),
  resolution: z.string().nullable(),
  opened: z.number(),
  resolved: z.number(),
  cleared: z.number(),
});

void t.test('nothing is told while covered, what lasts is told after, nothing twice, whoever dies when', async (t) => {
  const api = await maintenanceApi(t);
  const { worker } = api.database;
  const consumers = incidentsCapability.consumers ?? [];
  let startMs = Math.floor(Date.now() / 1_000) * 1_000 + hourMs;
  await fc.assert(
    fc.asyncProperty(
      fc.array(window, { minLength: 2, maxLength: 5 }),
      fc.array(step, { minLength: 8, maxLength: 24 }),
      async (windows, steps) => {
        const monitors = [(await api.monitor()).id, (await api.monitor()).id];
        const fromMs = startMs;
        startMs += 10 * hourMs;
        for (const each of windows) {
          await api.maintenance({
            scope: { subjects: [{ type: 'monitor', id: monitors[each.which] }] },
            starts_at: iso(fromMs + each.from * minuteMs),
            duration_seconds: each.length * 60,
          });
        }
        let nowMs = fromMs;
        const context = () => ({ ...api.context, now: () => nowMs });
        const act = async ({ kind, which: index }: Act): Promise<unknown> => {
          switch (kind) {
            case 'down':
            case 'up': {
              const [monitor_id, at] = [monitors[index], iso(nowMs)];
              const change = { from: 'UNKNOWN', to: kind === 'up' ? 'UP' : 'DOWN', at, detected_at: at };
              const payload = {
                monitor_id,
                workspace_id: api.workspaceId,
                ...change,
                evidence: {},
                range_started_at: at,
              };
              return worker.transaction((tx) =>
                enqueue(tx, { key: `monitor:${monitor_id}`, kind: 'monitor.transition', payload }),
              );
            }
            case 'clock':
              for (const due of await dueStarts(worker, nowMs)) await startOccurrence(worker, due);
              for (const due of await dueEnds(worker, nowMs)) await endOccurrence(worker, due);
              return;
            case 'join':
              return joinOccurrences(worker, nowMs);
            case 'release':
              return releaseSome(worker, nowMs, 'ended');
            case 'release_all':
              return releaseSome(worker, nowMs, 'all');
            case 'finish':
              return finishReleased(worker, nowMs);
            case 'consume':
              return workOnce(context(), consumers);
            case 'tell':
              return tellDue(context());
            default:
              throw new Error(kind);
          }
        };
        const ids = sql.array([...monitors], 'int4');
        const covered = async () =>
          new Set(
            await worker.anyFirst(sql.type(z.object({ id: z.number() }))`
              select subject_id as id from maintenance_subjects where ended_at is null and subject_id = any(${ids})`),
          );
        const opened = () =>
          worker.any(sql.type(openedRow)`
            select o.id::text as n, u.subject_id as monitor_id
            from outbox o join incident_members u on u.incident_id = (o.payload ->> 'incident_id')::integer
            where o.kind = 'incident.opened' and u.subject_id = any(${ids})`);
        for (const { minutes, acts } of steps) {
          nowMs += minutes * minuteMs;
          const [before, known] = [await covered(), new Set((await opened()).map(({ n }) => n))];
          await Promise.all(acts.map(act));
          const after = await covered();
          const told = (await opened()).filter(({ n }) => !known.has(n));
          if (told.some((row) => before.has(row.monitor_id) && after.has(row.monitor_id))) return false;
        }
        nowMs = fromMs + 9 * hourMs;
        await api.tickAt(nowMs);
        const ends = await worker.any(sql.type(endRow)`
          select i.status, i.resolution,
            (select count(*)::integer from outbox o where o.kind = 'incident.opened'
              and o.payload ->> 'incident_id' = i.id::text) as opened,
            (select count(*)::integer from outbox o where o.kind = 'incident.resolved'
              and o.payload ->> 'incident_id' = i.id::text) as resolved,
            (select count(*)::integer from outbox o where o.kind = 'maintenance.all_clear'
              and o.payload -> 'incidents' @> jsonb_build_array(jsonb_build_object('incident_id', i.id))) as cleared
          from incidents i join incident_members u on u.incident_id = i.id where u.subject_id = any(${ids})`);
        return ends.every(({ status, resolution, opened: told, resolved, cleared }) =>
          status === 'resolved'
            ? // An outage that ends as it begins turned out to be none: there is nothing to be cleared.
              (resolution === 'corrected' && told + resolved + cleared === 0) ||
              (told === 1 && resolved === 1 && cleared === 0) ||
              (told === 0 && resolved === 0 && cleared === 1)
            : told === 1 && resolved === 0 && cleared === 0,
        );
      },
    ),
    { numRuns: 25 },
  );
});
