import t from 'tap';
import { alertLimits, defaultAlertEvents } from '@parallax/api-contract';
import { addMember } from '../../../monitoring/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { alertsApi, ownMail } from './testing.ts';

const hourMs = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

void t.test('an alert is made with what was left out, read, listed, changed and deleted', async (t) => {
  const api = await alertsApi(t);
  const { id: monitorId } = await api.monitor();
  const made = await api.alerts('POST', '', { workspace_id: api.workspaceId, name: 'Night', steps: ownMail });
  t.equal(made.status, 201, made.text);
  const id = Number(made.body['id']);
  t.equal(made.headers.get('location'), `/api/v1/alerts/${id}`);
  t.equal(made.headers.get('etag'), '"1"');
  t.match(made.body, {
    workspace_id: api.workspaceId,
    is_active: true,
    is_default: false,
    owner: { id: api.owner.id },
    scope: { all: true, subjects: [], group_ids: [], tags: [] },
    events: [...defaultAlertEvents],
    steps: [
      {
        after_seconds: 0,
        targets: [{ channel: 'email', config_id: null, target: api.owner.email, locale: null, timezone: null }],
      },
    ],
    notify_on_recovery: true,
    min_duration_seconds: 0,
    reminder_interval_seconds: null,
    failover: null,
    disabled_reason: null,
    unusable_targets: [{ channel: 'email', target: api.owner.email, reason: 'own_address_unconfirmed' }],
    quiet_hours: null,
    muted_until: null,
    version: 1,
  });
  t.same((await api.alerts('GET', `/${id}`)).body, made.body);
  const changed = await api.alerts('PATCH', `/${id}`, {
    name: 'Day',
    scope: { subjects: [{ type: 'monitor', id: monitorId }], tags: ['web'] },
    events: ['monitor.down'],
    quiet_hours: { timezone: 'Europe/Berlin', windows: [{ days: [7, 1, 1], start: '22:00', end: '07:00' }] },
    reminder_interval_seconds: 3_600,
  });
  t.match(
    changed,
    {
      status: 200,
      body: {
        name: 'Day',
        scope: { all: false, subjects: [{ type: 'monitor', id: monitorId }], tags: ['web'] },
        events: ['monitor.down'],
        quiet_hours: { windows: [{ days: [1, 7], start: '22:00', end: '07:00' }], except_severity: 'critical' },
        reminder_interval_seconds: 3_600,
        version: 2,
      },
    },
    changed.text,
  );
  const cleared = await api.alerts('PATCH', `/${id}`, { quiet_hours: null, events: null, description: null });
  t.match(cleared.body, {
    quiet_hours: null,
    events: [...defaultAlertEvents],
    reminder_interval_seconds: 3_600,
    version: 3,
  });
  const same = await api.alerts('PATCH', `/${id}`, { name: 'Day', steps: ownMail, scope: changed.body['scope'] });
  t.match(same.body, { version: 3 }, 'what says the same is no change');
  t.match((await api.alerts('GET', '?search=day&is_active=true')).body, { alerts: [{ id }], total: 1 });
  t.match((await api.alerts('GET', '?search=day&is_active=false')).body, { alerts: [], total: 0 });
  t.equal((await api.alerts('DELETE', `/${id}`)).status, 204);
  t.equal((await api.alerts('GET', `/${id}`)).status, 404);
  t.equal((await api.alerts('DELETE', `/${id}`)).status, 404);
});

void t.test('what cannot be is refused by its place', async (t) => {
  const api = await alertsApi(t);
  const base = { workspace_id: api.workspaceId, name: 'x', steps: ownMail };
  const target = (more: object) => [{ targets: [{ channel: 'email' }, { channel: 'email', ...more }] }];
  for (const [more, path] of [
    [{ steps: [] }, '/steps'],
    [{ steps: [{ targets: [] }] }, '/steps/0/targets'],
    [{ steps: [...ownMail, ...ownMail] }, '/steps/1/after_seconds'],
    [
      {
        steps: Array.from({ length: 11 }, (_, index) => ({ after_seconds: index, targets: [{ channel: 'email' }] })),
      },
      '/steps',
    ],
    [{ steps: [{ targets: Array.from({ length: 21 }, () => ({ channel: 'email' })) }] }, '/steps/0/targets'],
    [{ steps: [{ after_seconds: 86_401, targets: [{ channel: 'email' }] }] }, '/steps/0/after_seconds'],
    [{ steps: target({ channel: 'pigeon' }) }, '/steps/0/targets/1/channel'],
    [{ steps: target({ config_id: 4_711 }) }, '/steps/0/targets/1/config_id'],
    [{ steps: target({ target: 'nobody' }) }, '/steps/0/targets/1/target'],
    [{ steps: target({ timezone: 'Mars/Olympus' }) }, '/steps/0/targets/1/timezone'],
    [{ steps: target({ secret: 'x' }) }, '/steps/0/targets/1'],
    [{ failover: { channel: 'pigeon' } }, '/failover/channel'],
    [{ scope: {} }, '/scope'],
    [{ scope: { all: true, tags: ['x'] } }, '/scope'],
    [{ events: [] }, '/events'],
    [{ events: ['monitor.up'] }, '/events/0'],
    [{ min_duration_seconds: 86_401 }, '/min_duration_seconds'],
    [{ reminder_interval_seconds: 59 }, '/reminder_interval_seconds'],
    [{ muted_until: iso(Date.now() + 400 * 24 * hourMs) }, '/muted_until'],
    [
      { quiet_hours: { timezone: 'UTC', windows: [{ days: [8], start: '22:00', end: '07:00' }] } },
      '/quiet_hours/windows/0/days/0',
    ],
    [
      { quiet_hours: { timezone: 'UTC', windows: [{ days: [1], start: '24:00', end: '07:00' }] } },
      '/quiet_hours/windows/0/start',
    ],
    [
      { quiet_hours: { timezone: '+03:00', windows: [{ days: [1], start: '22:00', end: '07:00' }] } },
      '/quiet_hours/timezone',
    ],
  ] as const) {
    const answer = await api.alerts('POST', '', { ...base, ...more });
    t.match(answer, { status: 422, body: { errors: [{ in: 'body', path }] } }, `${path}: ${answer.text}`);
  }
  t.match((await api.alerts('POST', '', { ...base, events: ['monitor.up'] })).body, {
    detail: 'body /events/0: recovery is no event of its own: `notify_on_recovery` tells of the end of what was told',
  });
  const foreign = await api.alerts('POST', '', { ...base, scope: { subjects: [{ type: 'monitor', id: 999 }] } });
  t.match(foreign, { status: 404, body: { errors: [{ path: '/scope/subjects/0/id' }] } });
  t.match((await api.alerts('GET', '?search=x')).body, { total: 0 }, 'nothing was made');
});

void t.test('a viewer reads, an editor writes; addresses and targets belong to the owner of the alert', async (t) => {
  const api = await alertsApi(t);
  const { id } = await api.alert({ failover: { channel: 'email', target: 'somebody.else@example.com' } });
  const [viewer, editor] = [await api.account('viewer@example.com'), await api.account('editor@example.com')];
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const asViewer = { token: viewer.accessToken };
  const asEditor = { token: editor.accessToken };
  const seen = await api.read(id, asViewer);
  t.not(seen.steps[0]?.targets[0]?.target, api.owner.email);
  t.notMatch(JSON.stringify(seen), 'somebody.else');
  t.equal((await api.alerts('PATCH', `/${id}`, { name: 'mine' }, asViewer)).status, 403);
  t.equal((await api.alerts('POST', `/${id}/toggle`, undefined, asViewer)).status, 403);
  t.equal((await api.alerts('DELETE', `/${id}`, undefined, asViewer)).status, 403);
  // What a form sends back as it was shown.
  const shown = await api.read(id, asEditor);
  const renamed = await api.alerts(
    'PATCH',
    `/${id}`,
    { name: 'ours', steps: shown.steps, failover: shown.failover },
    asEditor,
  );
  t.match(renamed, { status: 200, body: { name: 'ours', version: 2 } }, renamed.text);
  t.match(await api.read(id), {
    steps: [{ targets: [{ target: api.owner.email }] }],
    failover: { target: 'somebody.else@example.com' },
  });
  for (const body of [{ steps: ownMail }, { failover: null }, { failover: { channel: 'email' } }]) {
    t.equal((await api.alerts('PATCH', `/${id}`, body, asEditor)).status, 403, JSON.stringify(body));
  }
  const stranger = { token: (await api.account('stranger@example.com')).accessToken };
  t.equal((await api.alerts('GET', `/${id}`, undefined, stranger)).status, 404);
  t.equal((await api.alerts('PATCH', `/${id}`, { name: 'mine' }, stranger)).status, 404);
  t.equal((await api.alerts('GET', `?workspace_id=${api.workspaceId}`, undefined, stranger)).status, 404);
  t.equal(
    (await api.alerts('POST', '', { workspace_id: api.workspaceId, name: 'x', steps: ownMail }, stranger)).status,
    404,
  );
});

void t.test('an alert whose scope has become empty says so, and is sent back as it is', async (t) => {
  const api = await alertsApi(t);
  const { id: monitorId } = await api.monitor();
  const { id: groupId } = await api.group();
  const subjects = [{ type: 'monitor', id: monitorId }];
  const { id } = await api.alert({ scope: { subjects, group_ids: [groupId] } });
  t.equal((await api.call('DELETE', `/api/v1/monitors/${monitorId}`, { token: api.token })).status, 204);
  t.match(await api.read(id), { disabled_reason: null, scope: { group_ids: [groupId] } }, 'something is left');
  t.match(
    await api.alerts('PATCH', `/${id}`, { scope: { all: false, subjects: [], group_ids: [], tags: [] } }),
    { status: 422, body: { errors: [{ path: '/scope', code: 'scope_is_empty' }] } },
    'nobody empties it',
  );
  t.equal((await api.groups('DELETE', `/${groupId}`)).status, 204);
  const emptied = await api.read(id);
  const empty = { all: false, subjects: [], group_ids: [], tags: [] };
  t.match(emptied, { is_active: true, disabled_reason: 'scope_empty', scope: empty });
  t.match((await api.alerts('GET', '?search=alert')).body['alerts'], [{ id, disabled_reason: 'scope_empty' }]);
  const same = await api.alerts('PATCH', `/${id}`, { name: emptied.name, scope: emptied.scope });
  t.match(same, { status: 200, body: { version: emptied.version, disabled_reason: 'scope_empty' } }, same.text);
  const renamed = await api.alerts('PATCH', `/${id}`, { name: 'Renamed', scope: emptied.scope });
  t.match(renamed, { status: 200, body: { name: 'Renamed', scope: empty } }, renamed.text);
  const filled = await api.alerts('PATCH', `/${id}`, { scope: { tags: ['web'] } });
  t.match(filled, { status: 200, body: { disabled_reason: null, scope: { tags: ['web'] } } }, filled.text);
});

void t.test('the alert of somebody who left stays, and whoever gives it new steps takes it over', async (t) => {
  const api = await alertsApi(t);
  const editor = await api.account('editor@example.com');
  await addMember(api.database, api.workspaceId, editor.id, 'editor');
  const { id } = await api.alert({}, { token: editor.accessToken });
  await api.database.worker.query(
    sql.unsafe`delete from workspace_members where user_id = ${editor.id} and workspace_id = ${api.workspaceId}`,
  );
  t.match(
    await api.read(id),
    {
      owner: null,
      is_active: true,
      disabled_reason: 'owner_left',
      unusable_targets: [{ channel: 'email', config_id: null, reason: 'owner_left' }],
    },
    'it is turned on, tells nobody, and says why',
  );
  t.match((await api.alerts('GET', '?search=alert')).body['alerts'], [{ id, disabled_reason: 'owner_left' }]);
  t.equal((await api.alerts('PATCH', `/${id}`, { failover: { channel: 'email' } })).status, 403);
  const taken = await api.alerts('PATCH', `/${id}`, { steps: ownMail });
  t.equal(taken.body['disabled_reason'], null, taken.text);
  t.match(taken.body, { owner: { id: api.owner.id }, steps: [{ targets: [{ target: api.owner.email }] }] }, taken.text);
});

void t.test(
  'a chat of the bot is one that is linked; what is linked no more is shown and hinders no other change',
  async (t) => {
    const api = await alertsApi(t);
    const { worker } = api.database;
    const tells = (chat: string) => [{ targets: [{ channel: 'telegram', target: chat }] }];
    const body = (chat: string) => ({ workspace_id: api.workspaceId, name: 'chat', steps: tells(chat) });
    const path = '/steps/0/targets/0/target';
    const refused = { status: 422, body: { errors: [{ path, code: 'chat_not_linked' }] } };
    for (const chat of ['42', '-1001234567890:17']) t.match(await api.alerts('POST', '', body(chat)), refused, chat);
    const stranger = await api.account('stranger@example.com');
    await worker.query(sql.unsafe`
    insert into messenger_people (user_id, person_id, name) values (${api.owner.id}, 42, 'A'), (${stranger.id}, 43, 'B')`);
    await worker.query(sql.unsafe`
    insert into messenger_groups (workspace_id, chat_id, title) values (${api.workspaceId}, -1001234567890, 'Group')`);
    for (const chat of ['42', '-1001234567890', '-1001234567890:17']) {
      const made = await api.alerts('POST', '', body(chat));
      t.match(made, { status: 201, body: { unusable_targets: [] } }, chat);
    }
    t.match(await api.alerts('POST', '', body('43')), refused, 'it is linked to somebody else');
    const { id } = await api.alert({ steps: tells('42') });
    t.match(await api.alerts('PATCH', `/${id}`, { failover: { channel: 'telegram', target: '43' } }), {
      status: 422,
      body: { errors: [{ path: '/failover/target', code: 'chat_not_linked' }] },
    });
    await worker.query(sql.unsafe`delete from messenger_people where user_id = ${api.owner.id}`);
    const lost = [{ channel: 'messenger', config_id: null, target: '42', reason: 'chat_not_linked' }];
    t.match(await api.read(id), { disabled_reason: null, unusable_targets: lost });
    const more = await api.alerts('PATCH', `/${id}`, { steps: tells('42'), failover: { channel: 'email' } });
    t.equal(more.status, 200, more.text);
    // A bot of one's own writes where it was started: that is between the two.
    const own = { channel: 'messenger', settings: { bot_token: '123:abcdefghijklmnopqrstuvwxyz' } };
    t.equal((await api.call('POST', '/api/v1/alert-channel-configs', { token: api.token, body: own })).status, 201);
    t.equal((await api.alerts('POST', '', body('43'))).status, 201);
  },
);

void t.test('an alert is turned off and on, and silenced for a while', async (t) => {
  const api = await alertsApi(t);
  const { id } = await api.alert();
  t.match((await api.alerts('POST', `/${id}/toggle`)).body, { is_active: false, version: 2 });
  t.match((await api.alerts('POST', `/${id}/toggle`)).body, { is_active: true, version: 3 });
  const before = Date.now();
  const snoozed = await api.alerts('POST', `/${id}/snooze`, { minutes: 60 });
  const until = Date.parse(String(snoozed.body['muted_until']));
  t.ok(until >= before + hourMs && until <= Date.now() + hourMs + 5_000, snoozed.text);
  const at = iso(Date.now() + 5 * hourMs);
  t.match((await api.alerts('POST', `/${id}/snooze`, { until: at })).body, { muted_until: at });
  t.match((await api.alerts('PATCH', `/${id}`, { muted_until: null })).body, { muted_until: null });
  for (const body of [
    {},
    { minutes: 0 },
    { minutes: 1, until: at },
    { until: iso(before - hourMs) },
    { until: iso(before + 400 * 24 * hourMs) },
  ]) {
    t.equal((await api.alerts('POST', `/${id}/snooze`, body)).status, 422, JSON.stringify(body));
  }
});

void t.test('changes come one after another: fifty toggles, and If-Match', async (t) => {
  const api = await alertsApi(t);
  const { id } = await api.alert();
  const toggles = await Promise.all(Array.from({ length: 50 }, () => api.alerts('POST', `/${id}/toggle`)));
  t.ok(toggles.every(({ status }) => status === 200));
  t.match(await api.read(id), { is_active: true, version: 51 });
  t.equal(new Set(toggles.map(({ body }) => body['version'])).size, 50, 'each answers its own version');
  const renames = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      api.alerts('PATCH', `/${id}`, { name: `name ${index}` }, { token: api.token, headers: { 'if-match': '"51"' } }),
    ),
  );
  t.equal(renames.filter(({ status }) => status === 200).length, 1);
  t.equal(renames.filter(({ status }) => status === 412).length, 9);
});

void t.test('fifty of the same at once with one key are one; the workspace is never above its number', async (t) => {
  const api = await alertsApi(t);
  const body = { workspace_id: api.workspaceId, name: 'once', steps: ownMail };
  const call = { token: api.token, headers: { 'idempotency-key': 'the-very-same' } };
  const answers = await Promise.all(Array.from({ length: 50 }, () => api.alerts('POST', '', body, call)));
  t.ok(answers.every(({ status }) => status === 201 || status === 409));
  t.match((await api.alerts('GET', '?search=once')).body, { total: 1 });
  await api.database.worker.query(sql.unsafe`
    insert into alerts (workspace_id, owner_id, name, covers_all, events, steps)
    select workspace_id, owner_id, 'many ' || n, true, events, steps
    from alerts, generate_series(1, ${alertLimits.ofWorkspace - 4}) n where name = 'once'`);
  // With the default one there are 498.
  const more = await Promise.all(
    Array.from({ length: 20 }, (_, index) => api.alerts('POST', '', { ...body, name: `more ${index}` })),
  );
  t.same(more.filter(({ status }) => status === 201).length, 2);
  t.match(
    more.find(({ status }) => status !== 201),
    { status: 409, body: { code: 'too_many_alerts' } },
  );
});
