import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { monitorsApi } from '../../../../monitoring/testing.ts';
import { sql } from '../../../../platform/database/pools.ts';
import { fold, windowOf } from '../../folding/fold.ts';
import { countMembers } from '../../folding/incident-state.ts';
import type { IncidentState } from '../../folding/incident-state.ts';
import { settle } from '../../folding/settle.ts';
import { lockIncidents } from '../queries.ts';
import { insertIncident } from '../writing/queries.ts';

const beginMs = Date.UTC(2030, 0, 1);

/** Outages of a few subjects, so that some come twice and many times are alike. */
const outages = fc.array(
  fc.record({
    subject: fc.integer({ min: 1, max: 6 }),
    startS: fc.integer({ min: 0, max: 400 }),
    lastsS: fc.option(fc.integer({ min: 0, max: 400 })),
    resolution: fc.constantFrom('auto', 'corrected', 'paused'),
    windowS: fc.constantFrom(60, 600),
  }),
  { minLength: 1, maxLength: 12 },
);

/** What was decided, without the members that it was decided by. How it ended is left out where several ended last. */
function decided({ members, unlisted, ...rest }: IncidentState) {
  return { ...rest, count: members.length + unlisted.outages };
}

t.test('the members that decide decide as all of them do', async (t) => {
  const api = await monitorsApi(t);
  await fc.assert(
    fc.asyncProperty(outages, fc.integer({ min: 0, max: 400 }), async (list, onsetS) => {
      const ends = new Set(list.map(({ startS, lastsS }) => startS + (lastsS ?? 1_000)));
      await api.database.worker.transaction(async (tx) => {
        const startedMs = beginMs;
        const id = await insertIncident(tx, {
          workspaceId: api.workspaceId,
          title: 'x',
          startedMs,
          key: 'address:192.0.2.1',
          detectedLate: false,
        });
        const lasting = new Set<number>();
        for (const { subject, startS, lastsS, resolution, windowS } of list) {
          const isOver = lastsS !== null || lasting.has(subject);
          if (!isOver) lasting.add(subject);
          const from = sql.timestamp(new Date(beginMs + startS * 1_000));
          const to = isOver ? sql.timestamp(new Date(beginMs + (startS + (lastsS ?? 1_000)) * 1_000)) : null;
          await tx.query(sql.unsafe`
            insert into incident_members (workspace_id, incident_id, subject_type, subject_id, name, title, started_at, ended_at, resolution, window_seconds)
            values (${api.workspaceId}, ${id}, 'monitor', ${subject}, 'm', ${`${subject} is down`}, ${from}, ${to}, ${isOver ? resolution : null}, ${windowS})`);
        }
        const edge = { startedMs: beginMs + onsetS * 1_000, windowMs: windowOf(30) };
        const [all] = await lockIncidents(tx, [id]);
        const [some] = await lockIncidents(
          tx,
          [id],
          [{ workspaceId: api.workspaceId, key: 'address:192.0.2.1', of: { type: 'monitor', id: 3 }, ...edge }],
        );
        const [few] = await lockIncidents(tx, [id], 'decisive');
        if (all === undefined || some === undefined || few === undefined) throw new Error('none');
        const down = { ...edge, subject: 'monitor:3', title: '3 is down', key: all.key, isUrgent: false };
        const wants = [all, some, few].map((one) => decided(settle(one, beginMs + 2_000_000, false).incident));
        // Which of those that ended at one moment was the last nobody says.
        const [want, ...others] =
          ends.size === list.length ? wants : wants.map((one) => ({ ...one, resolution: null }));
        for (const other of others) t.same(other, want);
        const isTaken = ([all, some] as const).map(
          (one) =>
            fold([one], [down], { nowMs: beginMs, newId: id + 1, isHeld: () => false }).taken[0]?.isNew === false,
        );
        t.equal(isTaken[1], isTaken[0], 'whether it belongs there');
        t.equal(countMembers(few), list.length);
        t.ok(few.members.length <= 4 && some.members.length <= 6, 'however many there are');
        await tx.query(sql.unsafe`delete from incidents where id = ${id}`);
      });
    }),
    { numRuns: 60 },
  );
});
