import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { afterTransition } from './pair.ts';
import type { OpenOutage, Told } from './pair.ts';

const statuses = ['UP', 'DEGRADED', 'WARNING', 'PARTIAL', 'DOWN', 'TIMEOUT', 'UNKNOWN'] as const;
const isBad = (status: string): boolean => status === 'DOWN' || status === 'TIMEOUT';

t.test('each outage has one beginning and one end, whatever the timeline', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...statuses), { maxLength: 30 }), (timeline) => {
      let open: OpenOutage | null = null;
      let from: string = 'UNKNOWN';
      const told: Told[] = [];
      let atMs = 0;
      for (const to of timeline) {
        if (to === from) continue;
        atMs += 1_000;
        const after = afterTransition(open, { from, to, atMs, incidentId: null });
        told.push(...after.told);
        open = after.open;
        // An outage is open exactly from a bad status until an answer.
        if (isBad(to) && open === null) return false;
        if (['UP', 'DEGRADED', 'WARNING'].includes(to) && open !== null) return false;
        from = to;
      }
      let isOpen = false;
      for (const one of told) {
        if (one.type === 'monitor.down') {
          if (one.continues !== isOpen) return false;
          isOpen = true;
        }
        if (one.type === 'monitor.up') {
          if ((one.outage !== null) !== isOpen) return false;
          isOpen = false;
        }
      }
      return isOpen === (open !== null);
    }),
  );
  t.pass();
});

t.test('cases', async (t) => {
  const at = (from: string, to: string, open: OpenOutage | null) =>
    afterTransition(open, { from, to, atMs: 5, incidentId: 9 });
  const outage = { startedMs: 1, incidentId: 3 };
  t.same(at('UP', 'DOWN', null), {
    told: [{ type: 'monitor.down', continues: false }],
    open: { startedMs: 5, incidentId: 9 },
  });
  t.same(at('DOWN', 'TIMEOUT', outage).told, [], 'another cause of the same outage');
  t.same(at('PARTIAL', 'DOWN', outage).told, [{ type: 'monitor.down', continues: true }]);
  t.same(at('DOWN', 'DEGRADED', outage), {
    told: [{ type: 'monitor.up', outage }, { type: 'monitor.degraded' }],
    open: null,
  });
  t.same(at('DOWN', 'PARTIAL', outage), { told: [{ type: 'monitor.partial' }], open: outage });
  t.same(at('PARTIAL', 'UP', null).told, [{ type: 'monitor.up', outage: null }]);
});
