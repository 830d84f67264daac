import { listAuditEventsRoute } from '@parallax/api-contract';
import pg from 'pg';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { testApi } from '../testing.ts';
import type { TestApi, TestCall } from '../testing.ts';
import { auditPage } from './reading/queries.ts';

const path = '/api/v1/audit-log';
const list = listAuditEventsRoute.success.answer as NonNullable<typeof listAuditEventsRoute.success.answer>;

async function events(api: TestApi, query: string, call: TestCall) {
  const answer = await api.call('GET', `${path}${query}`, call);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return z.strictObject(list.shape).parse(answer.body);
}

/** Events of a workspace or, without one, of the account, a second apart; the last one is the newest. */
async function addEvents(
  api: TestApi,
  workspaceId: number | null,
  userId: number,
  actions: readonly string[],
  startedAt = '2026-03-01T12:00:00.0005Z',
): Promise<void> {
  await api.database.worker.query(sql.unsafe`
    insert into audit_log (workspace_id, user_id, actor, action, subject_type, subject_id, detail, at)
    select ${workspaceId}, ${userId}, 'user', action, 'thing', number::text, jsonb_build_object('number', number),
           ${startedAt}::timestamptz + number * interval '1 second'
    from unnest(${sql.array([...actions], 'text')}) with ordinality as made (action, number)`);
}

void t.test('an owner reads the log of a workspace, others do not', async (t) => {
  const api = await testApi(t);
  const [ada, eve, bob] = [
    await api.account('ada@example.com'),
    await api.account('eve@example.com'),
    await api.account('bob@example.com'),
  ];
  await api.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (1, ${eve.id}, 'editor'), (1, ${bob.id}, 'viewer')`);
  const key = await api.call('POST', '/api/v1/api-keys', { token: ada.accessToken, body: { name: 'k' } });
  await addEvents(api, 1, eve.id, ['thing.made']);
  const own = await events(api, '', { token: ada.accessToken });
  t.same(
    new Set(own.events.map(({ workspace_id, action }) => `${workspace_id} ${action}`)),
    new Set(['1 user.registered', 'null session.started', 'null api_key.created', '1 thing.made']),
    'of the workspace and of the account',
  );
  t.equal(own.total, 4);
  const ofWorkspace = await events(api, '?workspace_id=1', { token: ada.accessToken });
  t.same(ofWorkspace.events.map((event) => event.action).toSorted(), ['thing.made', 'user.registered']);
  for (const other of [eve, bob]) {
    t.match(await api.call('GET', `${path}?workspace_id=1`, { token: other.accessToken }), {
      status: 403,
      body: { code: 'forbidden' },
    });
    const seen = await events(api, '', { token: other.accessToken });
    t.notOk(
      seen.events.some((event) => event.workspace_id === 1),
      'not without naming it either',
    );
    t.ok(seen.events.every((event) => event.user_id === other.id));
  }
  t.equal((await api.call('GET', `${path}?workspace_id=99`, { token: ada.accessToken })).status, 404);
  t.equal((await api.call('GET', `${path}?workspace_id=2`, { token: ada.accessToken })).status, 404, 'a foreign one');
  t.match(await api.call('GET', path, { key: String(key.body['key']) }), { status: 403 });
  t.equal((await api.call('GET', path)).status, 401);
});

void t.test('filters and pages', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await addEvents(api, 1, ada.id, ['a.made', 'a_b', 'b.made', 'b%', 'b.gone']);
  await addEvents(api, null, ada.id, ['b.own'], '2026-03-01T12:00:02.0007Z');
  const asked = async (query: string) => {
    const { events: found, total } = await events(api, `?end_time=2026-03-02T00:00:00Z&${query}`, {
      token: ada.accessToken,
    });
    t.equal(total, found.length, query);
    return found.map((event) => event.action);
  };
  t.same(await asked(''), ['b.gone', 'b%', 'b.own', 'b.made', 'a_b', 'a.made'], 'newest first, merged');
  t.same(await asked('action=b.'), ['b.gone', 'b.own', 'b.made'], 'the beginning of the action');
  t.same(await asked('action=b%25'), ['b%'], 'no wildcards');
  t.same(await asked('action=_'), []);
  t.same(await asked('workspace_id=1&action=b.'), ['b.gone', 'b.made']);
  t.same(await asked('subject_id=2&subject_type=thing'), ['a_b']);
  t.same(await asked('user_id=99'), []);
  t.same(await asked('start_time=2026-03-01T12:00:03.000Z'), ['b.gone', 'b%', 'b.own', 'b.made'], 'inclusive');
  t.same(await asked('start_time=2026-03-01T13:00:03.001%2B01:00'), ['b.gone', 'b%']);
  const until = await events(api, '?end_time=2026-03-01T12:00:02.000Z', { token: ada.accessToken });
  t.same(
    until.events.map((event) => event.action),
    ['a_b', 'a.made'],
    'the millisecond that is named belongs to it',
  );
  const second = await events(api, '?workspace_id=1&page=2&page_size=2&action=', { token: ada.accessToken }).catch(
    String,
  );
  t.match(second, /invalid_input/, 'an empty filter is a mistake');
  const page = await events(api, '?workspace_id=1&page=2&page_size=2&end_time=2026-03-02T00:00:00Z', {
    token: ada.accessToken,
  });
  t.match(page, { page: 2, page_size: 2, total: 5, events: [{ action: 'b.made' }, { action: 'a_b' }] });
  const uncounted = await events(api, '?page_size=2&with_total=false', { token: ada.accessToken });
  t.equal(uncounted.total, 2);
  for (const query of [
    'page=0',
    'page_size=101',
    'start_time=x',
    'end_time=9999-01-01T00:00:00Z',
    'format=xml',
    'user_id=0',
  ]) {
    t.equal((await api.call('GET', `${path}?${query}`, { token: ada.accessToken })).status, 422, query);
  }
});

void t.test('as CSV, whose cells are no formulas, up to a bound and with where to go on', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await addEvents(api, 1, ada.id, ['=HYPERLINK("http://evil")', 'quo"te,d']);
  const query = '?workspace_id=1&end_time=2026-03-02T00:00:00Z';
  const file = await api.call('GET', `${path}${query}&format=csv`, { token: ada.accessToken });
  t.equal(file.status, 200);
  t.equal(file.headers.get('content-type'), 'text/csv; charset=utf-8');
  t.match(file.headers.get('content-disposition'), /^attachment; filename="audit log.csv"/);
  t.equal(file.headers.get('link'), null);
  const [head, second, first, end] = file.text.split('\r\n');
  t.equal(
    head,
    'created_at,id,workspace_id,user_id,actor,action,subject_type,subject_id,remote_address,request_id,detail',
  );
  t.match(second, /^2026-03-01T12:00:02\.000Z,\d+,1,1,user,"quo""te,d",thing,2,,,"\{""number"":2\}"$/);
  t.match(first, /,"'=HYPERLINK\(""http:\/\/evil""\)",/);
  t.equal(end, '');
  const asked = await api.call('GET', `${path}${query}`, {
    token: ada.accessToken,
    headers: { accept: 'text/csv' },
  });
  t.equal(asked.text, file.text);
  await api.database.worker.query(sql.unsafe`
    insert into audit_log (workspace_id, user_id, actor, action, subject_type, at)
    select 1, 1, 'user', 'bulk', 'thing', '2026-02-01T00:00:00Z'::timestamptz + n * interval '1 second'
    from generate_series(1, 10005) n`);
  const long = await api.call('GET', `${path}?workspace_id=1&format=csv&action=bulk`, { token: ada.accessToken });
  t.equal(long.text.trimEnd().split('\r\n').length, 10_001);
  const [, next] = /^<http:\/\/127\.0\.0\.1(.*)>; rel="next"$/.exec(long.headers.get('link') ?? '') ?? [];
  const rest = await api.call('GET', String(next), { token: ada.accessToken });
  t.equal(rest.text.trimEnd().split('\r\n').length, 7, 'the older ones, with the last once more');
  t.equal(rest.headers.get('link'), null);
});

void t.test('a page is read from the index, however long the log is', async (t) => {
  const { urls, database } = await testDatabase(t);
  const api = await testApi(t, { database });
  const ada = await api.account('ada@example.com');
  await database.worker.query(sql.unsafe`
    insert into audit_log (workspace_id, user_id, actor, action, subject_type, at)
    select nullif(n % 3, 0), 1, 'user', 'bulk', 'thing', now() - n * interval '1 second' from generate_series(1, 90000) n`);
  const [owner, client] = [urls.owner, urls.api].map((connectionString) => new pg.Client({ connectionString }));
  if (owner === undefined || client === undefined) throw new Error('no clients');
  await Promise.all([owner.connect(), client.connect()]);
  t.teardown(() => Promise.all([owner.end(), client.end()]));
  await owner.query('vacuum analyze audit_log');
  await client.query(
    "select set_config('parallax.workspaces', '1,2', false), set_config('parallax.user_id', '1', false)",
  );
  const scope = { userId: ada.id, workspaceIds: [1, 2] };
  const all = {
    userId: undefined,
    action: undefined,
    subjectType: undefined,
    subjectId: undefined,
    fromMs: undefined,
    toMs: undefined,
  };
  const within = { ...all, fromMs: Date.now() - 40_000_000, toMs: Date.now() - 30_000_000 };
  for (const [what, filter, offset, pages] of [
    ['the newest', all, 0, 100],
    ['the hundredth page', all, 2_000, 400],
    ['within a time', within, 0, 100],
  ] as const) {
    const logs = { workspaceIds: [1, 2], ofAccount: true };
    const statement = auditPage(scope, logs, filter, { limit: 20, offset });
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: { 'Actual Rows': number } & Buffers }] }>(
      `explain (analyze, buffers, format json) ${statement.sql.replaceAll('$slonik_', '$')}`,
      [...statement.values],
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    t.equal(plan?.['Actual Rows'], 20, what);
    const touched = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
    t.ok(touched > 0 && touched < pages, `${what}: ${touched} pages of memory`);
    t.notMatch(
      JSON.stringify(plan),
      /"Seq Scan","Parent Relationship":"[A-Za-z]*","Parallel Aware":[a-z]*,"Async Capable":[a-z]*,"Relation Name":"audit_log"/,
    );
  }
});

type Buffers = { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
