import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { groupsApi } from '../../groups/testing.ts';
import type { GroupsApi } from '../../groups/testing.ts';
import { exported, imported } from './testing.ts';

const head = 'url,name,protocol,interval_seconds,settings\n';
const cell = (settings: Record<string, unknown>) => `"${JSON.stringify(settings).replaceAll('"', '""')}"`;
const web = (name: string) => `https://${name}.example/,${name},https,60,\n`;
const group = (name: string, settings: Record<string, unknown>) => `,${name},group,60,${cell(settings)}\n`;

/** Settings of a monitor by its name. */
async function settingsOf(api: GroupsApi, name: string): Promise<unknown> {
  const { body } = await api.call('GET', `/api/v1/monitors?search=${encodeURIComponent(name)}`, { token: api.token });
  const found = (body['monitors'] as { name: string; settings: unknown }[]).find((each) => each.name === name);
  return found?.settings;
}

const makeApi = (t: TestContext): Promise<GroupsApi> => groupsApi(t);

void t.test('an export names members and groups, never by identifier', async (t) => {
  const api = await makeApi(t);
  const [b, a] = [await api.monitor({ name: '𝄞' }), await api.monitor({ name: '＝1' })];
  const watched = await api.group({ name: 'web', monitor_ids: [a.id] });
  const gone = await api.group({ name: 'gone' });
  const body = (settings: Record<string, unknown>) => ({ protocol: 'group', url: '', settings });
  await api.monitor({ name: 'members', ...body({ monitor_ids: [b.id, a.id], minimum_up: 1 }) });
  await api.monitor({ name: 'watched', ...body({ group_id: watched.id }) });
  await api.monitor({ name: 'lost', ...body({ group_id: gone.id }) });
  t.equal((await api.groups('DELETE', `/${gone.id}`)).status, 204);
  const file = await exported(api);
  t.match(file, /members,group:members,group,[^\n]*"\{""minimum_up"":1,""monitors"":\[""𝄞"",""＝1""\]\}"/);
  t.match(file, /watched,group:web,group,[^\n]*"\{""group"":""web""\}"/);
  t.match(
    file,
    /lost,group:members,group,[^\n]*"\{""monitors"":\[\]\}"/,
    'one whose group was deleted watches nothing',
  );
  t.notMatch(file, /monitor_ids|group_id/);
  const plan = await imported(api, file, { query: '?dry_run=true' });
  t.match(plan, { created: 0, skipped: 5, failed: 0 });
  t.same(
    plan.rows.flatMap((row) => row['differences']),
    [],
  );
});

void t.test('members may be later rows, group monitors, and monitors that are there', async (t) => {
  const api = await makeApi(t);
  const there = await api.monitor({ name: 'there', url: 'https://there.example/' });
  const watched = await api.group({ name: 'web' });
  const file =
    head +
    group('top', { monitors: ['both', 'there', 'both'], minimum_up: 2 }) +
    group('both', { monitors: ['two', 'one'] }) +
    web('one') +
    web('two') +
    group('watched', { group: 'web' }) +
    group('empty', { monitors: [] });
  const plan = await imported(api, file, { query: '?dry_run=true' });
  t.match(plan, { created: 6, failed: 0 });
  t.match(plan.rows[0], {
    url: 'group:members',
    fields: { url: 'group:members', confirmations: 1, settings: { monitors: ['both', 'there'], minimum_up: 2 } },
  });
  t.match(plan.rows[4], { url: 'group:web', fields: { url: 'group:web', settings: { group: 'web' } } });
  const done = await imported(api, file);
  t.match(done, { created: 6, failed: 0 });
  const [top, both, one, two, ofGroup] = done.rows.map((row) => row.monitor_id);
  const ids = [there.id, both].sort((x, y) => (x ?? 0) - (y ?? 0));
  t.same(await settingsOf(api, 'top'), { monitor_ids: ids, minimum_up: 2 });
  t.same(await settingsOf(api, 'both'), { monitor_ids: [one, two] });
  t.same(await settingsOf(api, 'watched'), { group_id: watched.id });
  t.same(await settingsOf(api, 'empty'), { monitor_ids: [] });
  const { body } = await api.call('GET', `/api/v1/monitors/${ofGroup}`, { token: api.token });
  t.match(body, { url: `group:${watched.id}`, protocol: 'group', assigned_probes: [], confirmations: 1 });
  t.match((await api.call('GET', `/api/v1/monitors/${top}`, { token: api.token })).body, { url: 'group:members' });
  const circle = { token: api.token, body: { settings: { monitor_ids: [top] } } };
  t.match((await api.call('PATCH', `/api/v1/monitors/${both}`, circle)).status, 422, 'circles are still looked for');
  const again = await imported(api, file);
  t.match(again, { created: 0, skipped: 6, failed: 0 });
});

void t.test('a dry run tells by name how a group monitor differs', async (t) => {
  const api = await makeApi(t);
  await imported(api, head + web('one') + web('two') + group('both', { monitors: ['one', 'two'] }));
  const plan = await imported(api, head + group('both', { monitors: ['one', 'three'], minimum_up: 1 }), {
    query: '?dry_run=true',
  });
  t.match(plan.rows, [{ status: 'skipped', code: 'duplicate' }]);
  t.same(plan.rows[0]?.['differences'], [
    { field: 'settings.monitors', existing: ['one', 'two'], imported: ['one', 'three'] },
    { field: 'settings.minimum_up', existing: null, imported: 1 },
  ]);
  const same = await imported(api, head + group('other name', { monitors: ['two', 'one'] }));
  t.match(same.rows, [{ status: 'skipped', code: 'duplicate' }], 'what watches the same is a duplicate');
  const anew = await imported(api, head + group('other name', { monitors: ['two', 'one'] }), {
    query: '?on_duplicate=create',
  });
  t.match(anew, { created: 1 });
});

void t.test('unknown names and circles are told row by row, and do not stop the others', async (t) => {
  const api = await makeApi(t);
  const foreign = await api.account('foreign@example.com');
  await imported({ ...api, token: foreign.accessToken }, head + web('theirs'));
  const file =
    head +
    group('lacking', { monitors: ['one', 'nobody', 'theirs'] }) +
    group('above lacking', { monitors: ['lacking'] }) +
    group('groupless', { group: 'nothing' }) +
    group('a', { monitors: ['b', 'one'] }) +
    group('b', { monitors: ['a'] }) +
    group('above circle', { monitors: ['b'] }) +
    group('own', { monitors: ['own'] }) +
    group('bad interval', { monitors: ['one'] }).replace(',60,', ',0,') +
    group('above bad', { monitors: ['bad interval'] }) +
    group('fine', { monitors: ['one'] }) +
    web('one');
  for (const query of ['?dry_run=true', '']) {
    const report = await imported(api, file, { query });
    t.match(report, { created: 2, skipped: 0, failed: 9 });
    t.match(report.rows, [
      { code: 'unknown_monitor', reason: /no monitor "nobody", "theirs"$/ },
      { code: 'unknown_monitor', reason: /row 1, "lacking", is not imported/ },
      { code: 'unknown_group', reason: /settings\.group: .* no monitor group "nothing"/ },
      { code: 'group_cycle', reason: /"a" → "b" → "a"/ },
      { code: 'group_cycle', reason: /"a" → "b" → "a"/ },
      { code: 'unknown_monitor', reason: /row 5, "b", is not imported/ },
      { code: 'group_cycle', reason: /"own" → "own"/ },
      { code: 'invalid_input', reason: /interval_seconds/ },
      { code: 'unknown_monitor', reason: /"bad interval"/ },
      { status: 'created' },
      { status: 'created' },
    ]);
    t.ok(
      report.rows.every((row) => row.status !== 'failed' || row['fields'] === undefined),
      'what fails is no plan',
    );
  }
});

void t.test('a row that is a duplicate is a member under its name in the file', async (t) => {
  const api = await makeApi(t);
  const { id } = await api.monitor({ name: 'another name', url: 'https://one.example/' });
  const report = await imported(api, head + web('one') + group('g', { monitors: ['one'] }));
  t.match(report.rows, [
    { status: 'skipped', code: 'duplicate', monitor_id: id },
    { status: 'created', warnings: [`"one" is monitor ${id} here`] },
  ]);
  t.same(await settingsOf(api, 'g'), { monitor_ids: [id] });
});

void t.test('what is no settings of a group monitor fails with its reason', async (t) => {
  const api = await makeApi(t);
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{}, /needs monitors or group/],
    [{ monitors: ['one'], group: 'web' }, /one of them/],
    [{ monitor_ids: [1] }, /write monitors, by name, in place of monitor_ids/],
    [{ group_id: 1 }, /write group, by name/],
    [{ monitors: [1] }, /settings\.monitors\.0/],
    [{ monitors: 'one' }, /settings\.monitors/],
    [{ monitors: ['a\u0007'] }, /control/],
    [{ monitors: [''] }, /settings\.monitors\.0/],
    [{ monitors: Array.from({ length: 1_001 }, (_, index) => `m${index}`) }, /settings\.monitors/],
    [{ monitors: ['one'], minimum_up: 0 }, /minimum_up/],
    [{ monitors: ['one'], quorum: 1 }, /quorum/],
    [[], /object/],
  ];
  const file =
    head + cases.map(([settings], index) => group(`g${index}`, settings as Record<string, unknown>)).join('');
  const report = await imported(api, file);
  for (const [index, [settings, reason]] of cases.entries()) {
    t.match(
      report.rows[index],
      { status: 'failed', code: 'invalid_cell', reason },
      JSON.stringify(settings).slice(0, 60),
    );
  }
  const probed = await imported(api, `${head.trim()},regions\n${group('p', { monitors: [] }).trim()},eu\n`);
  t.match(probed.rows, [{ status: 'failed', code: 'no_probes' }]);
});

void t.test('members are looked for in the workspace of the row only', async (t) => {
  const api = await makeApi(t);
  await api.monitor({ name: 'home' });
  const made = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'Elsewhere' } });
  const lines = [
    'url,name,protocol,interval_seconds,settings,workspace',
    `,w1,group,60,${cell({ monitors: ['home'] })},Elsewhere`,
    `,w2,group,60,${cell({ monitors: ['there'] })},`,
    `,w3,group,60,${cell({ monitors: ['there'] })},Elsewhere`,
    'https://there.example/,there,https,60,,Elsewhere',
  ];
  const report = await imported(api, lines.join('\n'));
  t.match(report.rows, [
    { code: 'unknown_monitor', reason: /"home"/ },
    { code: 'unknown_monitor', reason: /"there"/ },
    { status: 'created', workspace_id: made.body['id'] },
    { status: 'created' },
  ]);
});

void t.test('a large file of long chains and circles is judged at once', async (t) => {
  const api = await makeApi(t);
  const names = Array.from({ length: 499 }, (_, index) => `g${index}`);
  const chain = names.map((name, index) => group(name, { monitors: [names[index + 1] ?? 'nobody'] }));
  const failing = await imported(api, head + chain.join('') + web('one'));
  t.match(failing, { created: 1, failed: 499 });
  const dense = names.map((name) => group(name, { monitors: names.slice(0, 200) }));
  const circles = await imported(api, head + dense.join(''));
  t.match(circles, { created: 0, failed: 499 });
  const good = names.map((name, index) => group(name, { monitors: [names[index + 1] ?? 'one'] }));
  t.match(await imported(api, head + good.join('')), { created: 499 });
  const audit = await api.database.worker.any(sql.unsafe`select 1 from audit_log where action = 'monitor.created'`);
  t.equal(audit.length, 500);
});
