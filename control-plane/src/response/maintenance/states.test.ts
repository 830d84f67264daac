import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { dayMs, hourMs, iso, maintenanceApi, minuteMs } from './testing.ts';

const occurrenceRow = z.object({
  id: z.number(),
  starts_at: z.number(),
  ends_at: z.number(),
  ended_at: z.number().nullable(),
});
const intervalRow = z.object({ id: z.bigint(), started_at: z.number(), ended_at: z.number().nullable() });

/** What somebody or the clock does to a maintenance. */
const act = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 40 }).map((hours) => ({ kind: 'tick', hours }) as const) },
  { weight: 2, arbitrary: fc.constant({ kind: 'end' } as const) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 30 }).map((hours) => ({ kind: 'lengthen', hours }) as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('FREQ=DAILY', 'FREQ=DAILY;COUNT=2').map((rrule) => ({ kind: 'repeat', rrule }) as const),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'once' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'cancel' } as const) },
);

void t.test('states never go back, whatever is done and when', async (t) => {
  const api = await maintenanceApi(t);
  const { worker } = api.database;
  await api.monitor();
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 10 }), async (acts) => {
      const startsMs = Math.floor(Date.now() / 1_000) * 1_000;
      const { id } = await api.maintenance({ starts_at: iso(startsMs), rrule: 'FREQ=DAILY' });
      let nowMs = Date.now();
      let over: string | undefined;
      const occurrences = new Map<number, z.infer<typeof occurrenceRow>>();
      const intervals = new Map<bigint, z.infer<typeof intervalRow>>();
      for (const each of acts) {
        if (each.kind === 'tick') {
          nowMs += each.hours * hourMs + minuteMs;
          // Two replicas at once.
          await Promise.all([api.tickAt(nowMs), api.tickAt(nowMs)]);
        } else if (each.kind === 'end' || each.kind === 'cancel') await api.plan('POST', `/${id}/${each.kind}`);
        else if (each.kind === 'lengthen') await api.plan('PUT', `/${id}`, { duration_seconds: each.hours * 3_600 });
        else await api.plan('PUT', `/${id}`, { rrule: each.kind === 'once' ? null : each.rrule });

        const { status, current, next } = await api.read(id);
        if (over !== undefined && status !== over) return false;
        if (status === 'completed' || status === 'cancelled') over = status;
        if ((status === 'active') !== (current !== null)) return false;
        if (status === 'scheduled' && next === null) return false;
        const seen = await worker.any(sql.type(occurrenceRow)`
          select id, starts_at, ends_at, ended_at from maintenance_occurrences where maintenance_id = ${id} order by starts_at`);
        for (const [index, one] of seen.entries()) {
          const before = occurrences.get(one.id);
          if (before !== undefined && (before.starts_at !== one.starts_at || before.ends_at !== one.ends_at))
            return false;
          if (before !== undefined && before.ended_at !== null && before.ended_at !== one.ended_at) return false;
          // In order and disjoint, also as planned.
          const earlier = seen[index - 1];
          if (earlier !== undefined && (earlier.ends_at > one.starts_at || earlier.ended_at === null)) return false;
          occurrences.set(one.id, one);
        }
        if (seen.length < occurrences.size) return false;
        const rows = await worker.any(sql.type(intervalRow)`
          select mm.id, mm.started_at, mm.ended_at from maintenance_subjects mm
            join maintenance_occurrences o on o.id = mm.occurrence_id where o.maintenance_id = ${id}`);
        for (const row of rows) {
          const before = intervals.get(row.id);
          if (before !== undefined && before.started_at !== row.started_at) return false;
          if (before !== undefined && before.ended_at !== null && before.ended_at !== row.ended_at) return false;
          intervals.set(row.id, row);
        }
      }
      await api.plan('DELETE', `/${id}`);
      await api.tickAt(nowMs + dayMs);
      return true;
    }),
    { numRuns: 6 },
  );
});
