import t from 'tap';
import { compareTimelines } from '../../check-results/ingest/testing/compare-timelines.ts';
import { eventually } from '../../check-results/ingest/testing/world.ts';
import { groupBody, groupStage } from './testing.ts';

void t.test('a group monitor follows its members at once, dated as they are, and so does one above it', async (t) => {
  const s = await groupStage(t);
  const [one, two] = [await s.monitor('one'), await s.monitor('two')];
  const both = await s.monitor('both', groupBody({ monitor_ids: [two, one], minimum_up: 1 }));
  const above = await s.monitor('above', groupBody({ monitor_ids: [both] }));
  s.start();
  await s.send(one, 'ok');
  await s.send(two, 'ok');
  await s.statusIs(both, 'UP');
  await s.statusIs(above, 'UP');
  const { body: made } = await s.call('GET', `/monitors/${both}`);
  t.match(made, { url: 'group:members', assigned_probes: [], confirmations: 1, settings: { monitor_ids: [one, two] } });

  await s.send(one, 'fail');
  await s.statusIs(both, 'DEGRADED');
  await s.statusIs(above, 'UP');
  await s.send(two, 'fail');
  await s.statusIs(both, 'DOWN');
  await s.statusIs(above, 'DOWN');
  const onset = await s.openSince(two);
  t.match(onset, { status: 'DOWN' });
  t.same(await s.openSince(both), onset, 'dated to the member that was one too many');
  t.same(await s.openSince(above), onset, 'and handed on');

  const results = await s.call('GET', `/monitors/${both}/results`);
  t.match(results.body, { results: [{ status: 'DOWN', probe_id: null, error_code: 'members_down' }] });
  const byHand = await s.call('POST', `/monitors/${both}/check`);
  t.match(byHand.body, {
    status: 'DOWN',
    results: [{ probe_id: null }],
    trace: [{ step: 'member' }, { step: 'member' }],
  });
  t.match((byHand.body['trace'] as { detail: string }[])[0]?.detail, `monitor ${one} "one" is DOWN since `);
  const tested = await s.call('POST', '/monitors/test', {
    workspace_id: s.workspaceId,
    ...groupBody({ monitor_ids: [one, two], minimum_up: 2 }),
  });
  t.match(tested.body, { status: 'DOWN', trace: [{ step: 'member' }, { step: 'member' }] });

  await s.send(two, 'ok');
  await s.statusIs(both, 'DEGRADED');
  await s.statusIs(above, 'UP');
  const ranges = await s.call('GET', `/monitors/${both}/status-ranges`);
  t.match(ranges.body, {
    status_ranges: [{ status: 'DEGRADED' }, { status: 'DOWN' }, { status: 'DEGRADED' }, { status: 'UP' }],
  });

  t.equal((await s.call('POST', `/monitors/${one}/pause`)).status, 200);
  await s.statusIs(both, 'UP');
  t.equal((await s.call('DELETE', `/monitors/${one}`)).status, 204);
  const { body: left } = await s.call('GET', `/monitors/${both}`);
  t.same((left['settings'] as { monitor_ids: unknown }).monitor_ids, [two], 'a deleted member is named no more');
  t.equal((await s.call('POST', `/monitors/${two}/pause`)).status, 200);
  await s.statusIs(both, 'UNKNOWN');
  await s.statusIs(above, 'UNKNOWN');
  t.same(await compareTimelines(s.w.pool, [0]), []);
});

void t.test('without a hint the next regular look finds the same and dates it the same', async (t) => {
  const s = await groupStage(t, { hasHints: false });
  const member = await s.monitor('member');
  await s.w.pool.query('update monitors set interval_seconds = 1 where id = $1', [member]);
  const watching = await s.monitor('watching', { ...groupBody({ monitor_ids: [member] }), interval_seconds: 3 });
  s.start();
  await s.send(member, 'ok');
  await s.statusIs(watching, 'UP');
  const looks = () => s.w.count(`check_results where monitor_id = ${watching}`);
  const before = await looks();
  await eventually(async () => (await looks()) > before, 'a regular look');
  await s.send(member, 'fail');
  await s.statusIs(watching, 'DOWN');
  t.same(await s.openSince(watching), await s.openSince(member));
});

void t.test('a group monitor of a monitor group follows who is in it; without members it is UNKNOWN', async (t) => {
  const s = await groupStage(t);
  const [one, two] = [await s.monitor('one'), await s.monitor('two')];
  const made = await s.call('POST', '/monitor-groups', {
    workspace_id: s.workspaceId,
    name: 'web',
    monitor_ids: [one],
  });
  const groupId = Number(made.body['id']);
  const watching = await s.monitor('watching', { ...groupBody({ group_id: groupId }), interval_seconds: 1 });
  t.match((await s.call('GET', `/monitors/${watching}`)).body, { url: `group:${groupId}` });
  s.start();
  await s.send(one, 'ok');
  await s.send(two, 'fail');
  await s.statusIs(watching, 'UP');
  await s.call('POST', `/monitor-groups/${groupId}/monitors`, { monitor_ids: [two] });
  await s.statusIs(watching, 'DOWN');
  t.equal((await s.call('DELETE', `/monitor-groups/${groupId}`)).status, 204);
  await s.statusIs(watching, 'UNKNOWN');
});
