import t from 'tap';
import { judgeMoves, judgeTags, reportOf, tagsAfter } from './verdicts.ts';
import type { Destination, ListedMonitor } from './verdicts.ts';

const tagged = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);

const monitor = (id: number, more: Partial<ListedMonitor> = {}): ListedMonitor => ({
  id,
  workspace_id: 1,
  owner_id: 1,
  shard: 0,
  name: `m${id}`,
  interval_seconds: 60,
  tags: [],
  is_active: true,
  wanted_probe_ids: null,
  ...more,
});

const elsewhere: Destination = {
  workspaceId: 2,
  ownerId: 2,
  plan: 'free',
  minimumIntervalSeconds: 60,
  unconfirmedIntervalSeconds: 0,
  takenNames: new Set(['taken']),
};

void t.test('tags are added behind those that are there, each once, and taken away where they are', async (t) => {
  t.same(tagsAfter(['a', 'b'], 'add_tags', ['b', 'c']), ['a', 'b', 'c']);
  t.same(tagsAfter(['a', 'b', 'c'], 'remove_tags', ['b', 'x']), ['a', 'c']);
});

void t.test('the twentieth tag fits, the one above does not; what stands may be taken away', async (t) => {
  t.match(judgeTags({ id: 1, tags: tagged(19) }, tagged(20)), { kind: 'changed' });
  t.match(judgeTags({ id: 1, tags: tagged(20) }, tagged(21)), { kind: 'refused', refusal: { code: 'too_many_tags' } });
  t.match(judgeTags({ id: 1, tags: tagged(20) }, tagged(20)), { kind: 'unchanged' });
  t.match(judgeTags({ id: 1, tags: tagged(20) }, tagged(5)), { kind: 'changed' });
});

void t.test('names stay unique on the owner, among those that come together too', async (t) => {
  const outcomes = judgeMoves(
    [
      monitor(1, { name: 'taken' }),
      monitor(2, { name: 'twin' }),
      monitor(3, { name: 'twin', owner_id: 3 }),
      monitor(4, { name: 'taken', owner_id: 2 }),
      monitor(5, { workspace_id: 2, owner_id: 2, name: 'taken' }),
    ],
    elsewhere,
  );
  t.match(outcomes.get(1), { kind: 'refused', refusal: { code: 'name_taken' } });
  t.match(outcomes.get(2), { kind: 'changed' });
  t.match(outcomes.get(3), { kind: 'refused', refusal: { code: 'name_taken' } }, 'the first keeps the name');
  t.match(outcomes.get(4), { kind: 'changed' }, 'the owner is the same, so the name is its own');
  t.match(outcomes.get(5), { kind: 'unchanged' }, 'it is there');
});

void t.test('the plan of another owner rules the interval, that of the same one does not', async (t) => {
  const outcomes = judgeMoves(
    [monitor(1, { interval_seconds: 59 }), monitor(2, { interval_seconds: 59, owner_id: 2 }), monitor(3)],
    elsewhere,
  );
  t.match(outcomes.get(1), { kind: 'refused', refusal: { code: 'interval_below_plan' } });
  t.match(outcomes.get(2), { kind: 'changed' });
  t.match(outcomes.get(3), { kind: 'changed' });
});

void t.test('the report is in the order of the request and counts', async (t) => {
  const report = reportOf(
    [3, 1, 2, 4],
    new Map([
      [1, { kind: 'changed' }],
      [2, { kind: 'refused', refusal: { code: 'forbidden', detail: 'no' } }],
      [3, { kind: 'unchanged' }],
    ]),
  );
  t.match(report, { ok: 2, failed: 1, not_found: 1 });
  t.same(
    report.monitors.map(({ monitor_id: id, result, changed }) => `${id} ${result} ${changed}`),
    ['3 ok false', '1 ok true', '2 failed false', '4 not_found false'],
  );
});
