import { monitorSorts, statusFilters } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { addMember, addProbe, addRanges, addResults, defaultWorkspace, monitorsApi } from '../../testing.ts';
import type { MonitorsApi, TestRange, TestResult } from '../../testing.ts';
import { listed } from './testing/reference.ts';
import type { Known, Question } from './testing/reference.ts';
import { makeMonitors, searches } from './testing/world.ts';
import type { MadeMonitor } from './testing/world.ts';

/*
 * The list compared with a slow reference: six hundred monitors in all states, every sort and order with every filter, page by page.
 * Another seed: PARALLAX_LIST_SEED=17.
 */

const seed = Number(process.env['PARALLAX_LIST_SEED'] ?? 1);
const count = 600;
const answer = z.object({ monitors: z.array(z.object({ id: z.number() })), total: z.number() });

type Prepared = {
  readonly api: MonitorsApi;
  readonly visible: readonly Known[];
  readonly workspaces: readonly number[];
};

/** Two workspaces of the caller, one where they are a viewer, and one that is not theirs. */
async function prepare(t: TestContext): Promise<Prepared> {
  const api = await monitorsApi(t);
  const second = await api.call('POST', '/api/v1/workspaces', { token: api.token, body: { name: 'second' } });
  const other = await api.account('other@example.com');
  const shared = await defaultWorkspace(api, other.accessToken);
  const foreign = await api.call('POST', '/api/v1/workspaces', { token: other.accessToken, body: { name: 'foreign' } });
  await addMember(api.database, shared, api.owner.id, 'viewer');
  const workspaces = [api.workspaceId, Number(second.body['id']), shared, Number(foreign.body['id'])];
  const owners = [api.owner.id, api.owner.id, other.id, other.id];
  for (const name of ['a', 'b']) await addProbe(api.database, name, name);
  const known = await store(api, makeMonitors(count, seed, owners), workspaces, owners);
  return { api, workspaces, visible: known.filter(({ workspace }) => workspace < 3) };
}

async function store(
  api: MonitorsApi,
  made: readonly MadeMonitor[],
  workspaces: readonly number[],
  owners: readonly number[],
): Promise<Known[]> {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
  const at = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();
  const rows = made.map((one) => ({
    ...one,
    workspace_id: workspaces[one.workspace],
    owner_id: owners[one.workspace],
    is_active: one.isActive,
    deleted_at: one.isDeleted ? at(0) : null,
    reset_at: one.resetS === null ? null : at(one.resetS),
  }));
  const ids = await api.database.worker.anyFirst(sql.typeAlias('id')`
    insert into monitors (workspace_id, owner_id, name, url, protocol, status, is_active, position, tags, deleted_at, reset_at,
      interval_seconds, timeout_seconds)
    select workspace_id, owner_id, name, url, protocol, status, is_active, position,
      array(select jsonb_array_elements_text(tags)), deleted_at, reset_at, 60, 10
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as made (workspace_id integer, owner_id integer, name text, url text,
      protocol text, status text, is_active boolean, position integer, tags jsonb, deleted_at timestamptz, reset_at timestamptz)
    returning id`);
  const known = made.map((one, index) => ({ ...one, id: ids[index] ?? 0 }));
  await api.database.worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by)
    select id, now(), by from ${sql.unnest(
      known.flatMap(({ id, isActive, isPausedByGroup }) => [
        ...(isActive ? [] : [[id, 'self']]),
        ...(isPausedByGroup ? [[id, 'group']] : []),
      ]),
      ['int4', 'text'],
    )} as paused (id, by)`);
  await addResults(
    api.database,
    known.flatMap((monitor) =>
      monitor.results.map(
        (result): TestResult => ({
          monitorId: monitor.id,
          probeId: result.isFallback ? 0 : result.probeId,
          atMs: nowMs - result.atS * 1_000,
          outcome: result.outcome,
          kind: result.isManual ? 'manual' : 'scheduled',
          fallback: result.isFallback,
          totalUs: result.totalUs,
        }),
      ),
    ),
  );
  await addRanges(
    api.database,
    known.flatMap(({ id, ranges, probeRange, results }): TestRange[] => {
      const own = ranges.map(({ fromS, toS, status }) => ({
        monitorId: id,
        fromMs: nowMs - fromS * 1_000,
        toMs: nowMs - toS * 1_000,
        status,
      }));
      if (probeRange === null) return own;
      const probes = new Set(results.map(({ probeId, isFallback }) => (isFallback ? 0 : probeId)));
      const { fromS, toS, status } = probeRange;
      const toMs = toS === 0 ? null : nowMs - toS * 1_000;
      return [
        ...own,
        ...[...probes].map((probeId) => ({ monitorId: id, probeId, fromMs: nowMs - fromS * 1_000, toMs, status })),
      ];
    }),
  );
  return known;
}

type Filter = Omit<Question, 'sort' | 'order'>;

const filters: readonly Filter[] = [
  ...statusFilters.map((status_filter) => ({ status_filter })),
  { is_active: true },
  { is_active: false },
  ...[0, 1, 2].map((workspace) => ({ workspace })),
  { protocol: 'dnsbl' },
  { tags: ['prod'] },
  { tags: ['a', 'été'] },
  { tags: ['none'] },
  ...searches.map((search) => ({ search })),
  { status_filter: 'down', workspace: 1, search: 'shop' },
  { status_filter: 'unknown', protocol: 'dnsbl', is_active: true, tags: ['b'] },
  { status_filter: 'paused', is_active: true },
];

async function ask({ api, workspaces }: Prepared, question: Question, page: number, pageSize: number) {
  const { workspace, tags = [], ...rest } = question;
  const query = new URLSearchParams({ page: String(page), page_size: String(pageSize) });
  for (const [name, value] of Object.entries(rest)) query.set(name, String(value));
  for (const tag of tags) query.append('tag', tag);
  if (workspace !== undefined) query.set('workspace_id', String(workspaces[workspace]));
  const list = await api.call('GET', `/api/v1/monitors?${query.toString()}`, { token: api.token });
  if (list.status !== 200) throw new Error(`${query.toString()}: ${list.status} ${list.text}`);
  return answer.parse(list.body);
}

/** All pages, one after another. */
async function walk(prepared: Prepared, question: Question, expected: readonly number[], pageSize: number) {
  const found: number[] = [];
  for (let page = 1; page === 1 || (page - 1) * pageSize < expected.length; page += 1) {
    const { monitors, total } = await ask(prepared, question, page, pageSize);
    if (total !== expected.length) return `total is ${total} in place of ${expected.length}`;
    found.push(...monitors.map(({ id }) => id));
  }
  const wrong = expected.findIndex((id, index) => found[index] !== id);
  if (wrong === -1 && found.length === expected.length) return 'equal';
  return `place ${wrong} has ${found[wrong]} in place of ${expected[wrong]}, ${found.length} of ${expected.length}`;
}

void t.test('every sort, order and filter is as the reference has it', async (t) => {
  const prepared = await prepare(t);
  const { visible } = prepared;
  const seen = new Map(filters.map((filter) => [filter, 0]));
  for (const sort of monitorSorts) {
    for (const order of ['asc', 'desc'] as const) {
      const all: Question = { sort, order };
      t.equal(await walk(prepared, all, listed(visible, all), 100), 'equal', `seed ${seed}: ${sort} ${order}`);
      for (const filter of filters) {
        const question = { ...filter, sort, order };
        const expected = listed(visible, question);
        seen.set(filter, Math.max(seen.get(filter) ?? 0, expected.length));
        const came = await walk(prepared, question, expected, 100);
        if (came !== 'equal') t.equal(came, 'equal', `seed ${seed}: ${JSON.stringify(question)}`);
      }
    }
  }
  const empty = [...seen].filter(([, most]) => most === 0).map(([filter]) => JSON.stringify(filter));
  t.ok(empty.length <= 7, `few filters find nothing: ${empty.join(' ')}`);
});

void t.test('pages of other sizes fit together, and one behind the last is empty', async (t) => {
  const prepared = await prepare(t);
  for (const sort of monitorSorts) {
    const question: Question = { sort, order: 'desc', status_filter: 'degraded' };
    const expected = listed(prepared.visible, question);
    for (const size of [1, 7, 33].filter((size) => expected.length / size < 60)) {
      t.equal(await walk(prepared, question, expected, size), 'equal', `${sort} by ${size}`);
    }
    const beyond = await ask(prepared, question, Math.ceil(expected.length / 20) + 1, 20);
    t.same(beyond, { monitors: [], total: expected.length });
    t.same((await ask(prepared, question, 10_000, 100)).monitors, []);
  }
});
