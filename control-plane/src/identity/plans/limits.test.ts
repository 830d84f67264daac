import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { DatabasePool } from 'slonik';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { capabilities } from '../../capabilities.ts';
import { sql } from '../../platform/database/pools.ts';
import { memoryBus } from '../../testing/probes.ts';
import { testApi } from '../testing.ts';
import type { TestAnswer, TestApi, TestCall } from '../testing.ts';
import { limitNames, limitsWith, namedLimits } from './limits.ts';

/*
 * Every entry of the table "Limits" of the specification, through the API. An entry whose routes are still to come is named, and fails here as
 * soon as they are there without a test.
 */

/** How far the clock of the API is ahead. */
const ahead = { ms: 0 };
const api = await testApi(t, { capabilities, context: { bus: memoryBus(), now: () => Date.now() + ahead.ms } });
const owner = await api.account('owner@example.com');
const token = owner.accessToken;
const call = (method: string, route: string, more: TestCall = {}) => api.call(method, route, { token, ...more });
const workspaceId = await ownWorkspace();
const contracts = capabilities
  .flatMap((capability) => capability.routes?.(api.context) ?? [])
  .map((one) => one.contract);
const hasRoute = (method: string, route: string): boolean =>
  contracts.some((contract) => contract.method === method && contract.path.replaceAll(/:[a-z_]+/g, '*') === route);

const monitorBody = (more: Record<string, unknown> = {}): { body: Record<string, unknown> } => ({
  body: { workspace_id: workspaceId, url: 'https://example.com/', ...more },
});
const monitorId = Number((await call('POST', '/api/v1/monitors', monitorBody({ name: 'limits' }))).body['id']);
const ofMonitor = (suffix: string): string => `/api/v1/monitors/${monitorId}${suffix}`;

async function ownWorkspace(): Promise<number> {
  const list = z.object({ workspaces: z.array(z.object({ id: z.number() })) });
  return list.parse((await call('GET', '/api/v1/workspaces')).body).workspaces[0]?.id ?? 0;
}

async function setPlan(plan: string, userId = owner.id): Promise<void> {
  await api.database.worker.query(sql.unsafe`update users set plan = ${plan} where id = ${userId}`);
}

/** So that a window does not end while its requests are made. */
async function earlyInTheMinute(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 8_000) await new Promise((resolve) => setTimeout(resolve, left + 50));
}

const without = (status: number, answers: readonly TestAnswer[]): TestAnswer[] =>
  answers.filter((answer) => answer.status !== status);

/** A 429 has all that a client needs to wait. */
function isLimited(t: Test, answer: TestAnswer | undefined, policy: RegExp | string): void {
  t.match(answer, { status: 429, body: { code: 'rate_limited' } });
  t.match(answer?.headers.get('retry-after'), /^[1-9]\d{0,3}$/);
  t.match(answer?.headers.get('ratelimit'), /^"(minute|hour)";r=0;t=\d+$/);
  t.match(answer?.headers.get('ratelimit-policy'), policy);
}

async function bounds(t: Test, route: string, name: string, least: number, most: number, step = 1): Promise<void> {
  for (const [value, status] of [
    [least, 200],
    [most, 200],
    [least - step, 422],
    [most + step, 422],
  ] as const) {
    t.equal((await call('GET', `${route}?${name}=${value}`)).status, status, `${route}?${name}=${value}`);
  }
}

const entries: Readonly<Record<string, (t: Test) => Promise<void>>> = {
  'Request rate, free plan': async (t) => {
    const account = await api.account('free@example.com');
    await setPlan('free', account.id);
    await earlyInTheMinute();
    const ask = () => api.call('GET', '/api/v1/workspaces', { token: account.accessToken });
    const answers: TestAnswer[] = [];
    for (let count = 0; count < 11; count += 1) answers.push(await ask());
    t.equal(without(200, answers.slice(0, 10)).length, 0, 'ten in a minute');
    t.equal(answers[0]?.headers.get('ratelimit-policy'), '"hour";q=100;w=3600, "minute";q=10;w=60');
    isLimited(t, answers[10], '"hour";q=100;w=3600, "minute";q=10;w=60');
    await api.database.worker.query(
      sql.unsafe`update rate_limits set used = case when key like '% hour' then 99 else 0 end where key like ${`user:${account.id} %`}`,
    );
    t.equal((await ask()).status, 200, 'the hundredth in an hour');
    const refused = await ask();
    isLimited(t, refused, /"hour";q=100/);
    t.match(refused.headers.get('ratelimit'), /^"hour";/);
  },
  Registration: async (t) => {
    await earlyInTheMinute();
    const register = (name: string, from: string) =>
      api.call('POST', '/api/v1/auth/register', {
        from,
        body: { email: `${name}@example.com`, password: 'a rather long phrase 7' },
      });
    for (const name of ['r1', 'r2', 'r3']) t.equal((await register(name, '2001:db8:1:2::1')).status, 201);
    isLimited(t, await register('r4', '2001:db8:1:2:ffff::1'), '"minute";q=3;w=60');
    t.equal((await register('r4', '2001:db8:1:3::1')).status, 201, 'another /64');
  },
  Login: async (t) => {
    await earlyInTheMinute();
    const login = (from: string) =>
      api.call('POST', '/api/v1/auth/login', { from, body: { email: owner.email, password: owner.password } });
    for (let count = 0; count < 5; count += 1) t.equal((await login('203.0.113.9')).status, 200);
    isLimited(t, await login('203.0.113.9'), '"minute";q=5;w=60');
    isLimited(t, await login('::ffff:203.0.113.9'), '"minute";q=5;w=60');
    t.equal((await login('203.0.113.10')).status, 200);
  },
  'Access token lifetime': async (t) => {
    const [, payload = ''] = token.split('.');
    const { exp, nbf } = z
      .object({ exp: z.number(), nbf: z.number() })
      .loose()
      .parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    t.equal(exp - nbf, 900);
    ahead.ms = exp * 1_000 - 1_000 - Date.now();
    t.equal((await call('GET', '/api/v1/auth/me')).status, 200);
    // Replicas may differ by five seconds.
    ahead.ms = exp * 1_000 + 6_000 - Date.now();
    t.match(await call('GET', '/api/v1/auth/me'), { status: 401, body: { code: 'token_expired' } });
    ahead.ms = 0;
  },
  'Minimum `interval_seconds`': async (t) => {
    for (const [plan, least] of [
      ['free', 60],
      ['paid', 30],
      ['self_hosted', 1],
    ] as const) {
      await setPlan(plan);
      const make = (seconds: number) =>
        call('POST', '/api/v1/monitors', monitorBody({ name: `${plan} ${seconds}`, interval_seconds: seconds }));
      t.equal((await make(least)).status, 201, `${plan}: ${least} s`);
      const refused = await make(least - 1);
      t.equal(refused.status, 422, `${plan}: ${least - 1} s`);
      if (least > 1) t.match(refused.body, { code: 'interval_below_plan', detail: new RegExp(`\\b${least}\\b`) });
    }
  },
  Pagination: async (t) => {
    const lists = contracts.filter(
      (contract) => contract.method === 'GET' && contract.query !== undefined && 'page' in shapeOf(contract.query),
    );
    t.ok(lists.length >= 8, `${lists.length} lists`);
    for (const contract of lists) {
      const route = contract.path.replace(':monitor_id', String(monitorId)).replaceAll(/:[a-z_]+/g, '1');
      const first = await call('GET', route);
      // A list below something that this test has not made.
      if (first.status === 404) continue;
      // The specification has it so.
      const usual = route === '/api/v1/alerts/history' ? 50 : 20;
      t.match(first.body, { page: 1, page_size: usual }, route);
      await bounds(t, route, 'page', 1, 10_000);
      await bounds(t, route, 'page_size', 1, 100);
    }
  },
  'Search string': async (t) => {
    t.equal((await call('GET', `/api/v1/monitors?search=${'x'.repeat(200)}`)).status, 200);
    t.equal((await call('GET', `/api/v1/monitors?search=${'x'.repeat(201)}`)).status, 422);
  },
  'Monitor id': async (t) => {
    for (const [id, status] of [
      [0, 422],
      [1, 200],
      [2_147_483_647, 404],
      [2_147_483_648, 422],
    ] as const) {
      t.equal((await call('GET', `/api/v1/monitors/${id}`)).status, status, String(id));
    }
  },
  'Statistics `hours`': async (t) => {
    for (const suffix of ['/stats', '/timeline', '/response-time-distribution']) {
      await bounds(t, ofMonitor(suffix), 'hours', 1, 720);
    }
    for (const suffix of ['/sla', '/sla/export/csv', '/sla/export/pdf']) {
      await bounds(t, ofMonitor(suffix), 'hours', 1, 2_160);
    }
    await bounds(t, ofMonitor('/status-ranges'), 'hours', 1, 17_520);
  },
  '`slo_target`': async (t) => {
    for (const suffix of ['/sla', '/sla/export/csv']) {
      await bounds(t, ofMonitor(suffix), 'slo_target', 90, 100, 0.01);
    }
  },
  'Workspace invite link validity': async (t) => {
    const route = `/api/v1/workspaces/${workspaceId}/invites`;
    if (!hasRoute('POST', '/api/v1/workspaces/*/invites')) return t.comment('the routes of invites are still to come');
    const made = await call('POST', route, { body: { role: 'viewer' } });
    t.equal(made.status, 201, JSON.stringify(made.body));
    const days = (Date.parse(String(made.body['expires_at'])) - Date.now()) / 86_400_000;
    t.ok(Math.abs(days - 14) < 0.01, `${days} days`);
  },
  'Alert channel configurations, free plan': async (t) => {
    await setPlan('free');
    await earlyInTheMinute();
    await api.database.worker.query(sql.unsafe`delete from rate_limits where key like ${`user:${owner.id} %`}`);
    const make = (channel: string) => call('POST', '/api/v1/alert-channel-configs', { body: { channel } });
    t.equal((await make('email')).status, 201);
    t.match(await make('email'), { status: 409, body: { code: 'channel_configured' } });
    t.equal((await make('messenger')).status, 201);
    t.match(await make('web-push'), { status: 409, body: { code: 'too_many_channels' } });
    await setPlan('self_hosted');
    t.equal((await make('web-push')).status, 201, 'other plans have as many as there are channels');
  },
  'CSV import': async (t) => {
    const rows = (count: number): string =>
      ['url', ...Array.from({ length: count }, (_, index) => `https://limit-${index}.example/`)].join('\n');
    const given = async (text: string): Promise<number> => {
      const route = `/api/v1/monitors/import/csv?dry_run=true&workspace_id=${workspaceId}`;
      return (await call('POST', route, { body: text, headers: { 'content-type': 'text/csv' } })).status;
    };
    t.equal(await given(rows(500)), 200, '500 rows');
    t.equal(await given(rows(501)), 422, '501 rows');
    const row = 'url,description\nhttps://limit.example/,';
    t.equal(await given(`${row}${'x'.repeat(1_048_576 - row.length)}`), 200, '1 MB');
    t.equal(await given(`${row}${'x'.repeat(1_048_577 - row.length)}`), 413, 'and one byte');
  },
  'Certificate chain cache': async (t) => {
    const seen = async (query = ''): Promise<unknown> =>
      (await call('GET', ofMonitor(`/cert-chain${query}`))).body['cached'];
    t.equal(await seen(), false, 'looked at');
    t.equal(await seen(), true, 'and given again: for how long is tried beside the cache');
    t.equal(await seen('?force=true'), false);
    t.equal(await seen('?force=false'), true);
  },
  'Provider-history samples': async (t) => {
    const made = await call(
      'POST',
      '/api/v1/monitors',
      monitorBody({ name: 'lists', protocol: 'dnsbl', url: '192.0.2.1' }),
    );
    const id = Number(made.body['id']);
    const { worker } = api.database;
    await worker.query(sql.unsafe`
      insert into dnsbl_views (monitor_id, probe_id, probe_revision, listings, seen_at) values (${id}, 1, 1, '{}', now())`);
    // A change every minute: many more than there may be samples.
    await worker.query(sql.unsafe`
      insert into dnsbl_runs (monitor_id, provider, started_at, ended_at, state, is_listed)
      select ${id}, 'a.test', at, at + interval '1 minute', case when extract(minute from at)::integer % 2 = 0 then 'listed' else 'clean' end, false
      from generate_series(now() - interval '31 days', now() - interval '1 minute', interval '1 minute') as at`);
    const history = z.array(z.object({ samples: z.array(z.object({ at: z.string() })) }));
    for (const [window, days] of [
      ['24h', 1],
      ['7d', 7],
      ['30d', 30],
    ] as const) {
      const answer = await call('GET', `/api/v1/monitors/${id}/dnsbl/provider-history?window=${window}`);
      const [first] = history.parse(answer.body);
      const count = first?.samples.length ?? 0;
      t.ok(count >= 285 && count <= 340, `${window}: ${count} samples`);
      const since = Date.parse(first?.samples[0]?.at ?? '');
      t.ok(Math.abs(Date.now() - days * 86_400_000 - since) <= 144 * 60_000, 'of the whole window');
    }
  },
};

function shapeOf(schema: z.ZodType): object {
  return schema instanceof z.ZodObject ? schema.shape : {};
}

for (const [name, test] of Object.entries(entries)) await t.test(`Limits: ${name}`, test);

await t.test('each limit per address that a route names is one of the list, with the same number', async (t) => {
  const found = contracts
    .filter((contract) => contract.perAddressPerMinute !== undefined && contract.path !== '/probe/ips')
    .map(({ method, path: route, perAddressPerMinute: quota }) => `${method} ${route} ${quota}`);
  const listed = Object.values(namedLimits).flatMap((limit) =>
    'route' in limit && contracts.some((one) => `${one.method} ${one.path}` === limit.route)
      ? [`${limit.route} ${limit.rate.quota}`]
      : [],
  );
  t.same(found.toSorted(), listed.toSorted());
  const documented = readFileSync(path.join(import.meta.dirname, '../../../../docs/limits.md'), 'utf8');
  for (const [name, { rate, countedBy }] of Object.entries(namedLimits)) {
    const period = { minute: 'a minute', hour: 'an hour', day: 'a day' }[rate.name];
    const line = `| \`${name}\` | ${rate.quota} ${period} | ${countedBy} |`;
    t.ok(documented.includes(line), line);
  }
});

await t.test('what the operator sets counts, and what does not fit is told whole', async (t) => {
  const limits = limitsWith({
    'free.requests_per_hour': 7,
    'paid.requests_per_hour': null,
    'paid.requests_per_minute': null,
    'self_hosted.requests_per_minute': 2,
    'free.minimum_interval_seconds': 10,
    'free.alert_channels': null,
    login: 50,
  });
  t.match(limits.plan('free'), {
    requests: { perHour: 7, perMinute: 10 },
    minimumIntervalSeconds: 10,
    alertChannels: undefined,
    retentionDays: 30,
  });
  t.equal(limits.plan('paid').requests, undefined);
  t.match(limits.plan('self_hosted').requests, { perMinute: 2 });
  t.match(limits.rate('login'), { quota: 50, windowSeconds: 60 });
  t.equal(limits.rate('register').quota, 3);
  t.equal(limits.ofRoute({ method: 'POST', path: '/api/v1/auth/login' }, 5).quota, 50);
  t.equal(limits.ofRoute({ method: 'GET', path: '/elsewhere' }, 5).quota, 5);
  const wrong = { 'free.retention_days': 1, logn: 3, login: 0, 'free.minimum_interval_seconds': 0, register: null };
  try {
    limitsWith(wrong);
    t.fail('nothing was thrown');
  } catch (error) {
    const text = (error as Error).message;
    t.equal(text.split('\n').length, 6, 'each of them');
    for (const name of Object.keys(wrong)) t.ok(text.includes(name), name);
  }
  t.ok(limitNames.includes('self_hosted.alert_channels'));

  const changed = await testApi(t, {
    database: api.database,
    context: { sealer: api.context.sealer, limits: limitsWith({ login: 1, 'free.requests_per_minute': 2 }) },
  });
  const body = { email: owner.email, password: owner.password };
  await earlyInTheMinute();
  const login = () => changed.call('POST', '/api/v1/auth/login', { from: '203.0.113.77', body });
  t.equal((await login()).status, 200);
  isLimited(t, await login(), '"minute";q=1;w=60');
});

await t.test('limits hold across replicas, also when all requests come at once', async (t) => {
  const account = await api.account('two@example.com');
  await setPlan('free', account.id);
  const other: TestApi = await testApi(t, {
    database: api.database,
    context: { sealer: api.context.sealer, limits: api.context.limits },
  });
  await earlyInTheMinute();
  const ask = (one: TestApi) => one.call('GET', '/api/v1/workspaces', { token: account.accessToken });
  const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(index % 2 === 0 ? api : other)));
  t.equal(answers.filter((answer) => answer.status === 200).length, 10);
  const refused = without(200, answers);
  t.equal(refused.length, 30);
  for (const answer of refused) isLimited(t, answer, '"hour";q=100;w=3600, "minute";q=10;w=60');
  const attempts = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      (index % 2 === 0 ? api : other).call('POST', '/api/v1/auth/login', {
        from: `2001:db8:9:9::${index}`,
        body: { email: 'nobody@example.com', password: 'wrong' },
      }),
    ),
  );
  t.equal(attempts.filter((answer) => answer.status === 401).length, 5, 'five logins of one /64');
});

await t.test(
  'failed logins of one account from one address, and new pairs of one session, say when to come again',
  async (t) => {
    const account = await api.account('failing@example.com');
    const attempt = (from: string, password = 'wrong') =>
      api.call('POST', '/api/v1/auth/login', { from, body: { email: account.email, password } });
    t.equal((await attempt('203.0.113.50')).status, 401);
    await api.database.worker.query(
      sql.unsafe`update rate_limits set used = 20 where key like 'failed-login:%203.0.113.50 hour'`,
    );
    isLimited(t, await attempt('203.0.113.50', account.password), '"hour";q=20;w=3600');
    t.equal((await attempt('203.0.113.51', account.password)).status, 200, 'nobody is locked out by others');

    await earlyInTheMinute();
    let refreshToken = account.refreshToken;
    const refresh = () => api.call('POST', '/api/v1/auth/refresh', { body: { refresh_token: refreshToken } });
    for (let count = 0; count < 30; count += 1) refreshToken = String((await refresh()).body['refresh_token']);
    isLimited(t, await refresh(), '"minute";q=30;w=60');
  },
);

await t.test('counting a request adds one statement and at most a third of its time', async (t) => {
  const limits = limitsWith({ 'free.requests_per_minute': 1_000_000, 'free.requests_per_hour': 1_000_000 });
  const asked = { statements: 0 };
  const { database } = api;
  const counted = await testApi(t, {
    database: { ...database, api: countingPool(database.api, asked) },
    context: { sealer: api.context.sealer, limits },
  });
  const free = await api.account('counted@example.com');
  await setPlan('free', free.id);
  const time = async (one: string): Promise<number> => {
    const start = performance.now();
    const answer = await counted.call('GET', '/api/v1/auth/me', { token: one });
    const took = performance.now() - start;
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return took;
  };
  const statementsOf = async (one: string): Promise<number> => {
    asked.statements = 0;
    await time(one);
    return asked.statements;
  };
  t.equal((await statementsOf(free.accessToken)) - (await statementsOf(token)), 1, 'one statement more');
  const persistence = await database.worker.oneFirst(sql.type(z.object({ kind: z.string() }))`
    select relpersistence as kind from pg_class where oid = 'rate_limits'::regclass`);
  t.equal(persistence, 'u', 'which waits for no disk: the table is unlogged');
  // In turns, so that whatever else the machine does falls on both, and as a share, so that a slower machine slows both. The fast tenth of each, since
  // a machine that is busy delays some of the requests but never hastens one; and the best of some rounds for the same reason. A cost of every
  // request is in the fast ones too.
  const shares: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    const [bare, limited]: [number[], number[]] = [[], []];
    for (let pair = 0; pair < 120; pair += 1) {
      bare.push(await time(token));
      limited.push(await time(free.accessToken));
    }
    shares.push(fastTenth(limited) / fastTenth(bare) - 1);
  }
  t.comment(`added shares: ${shares.map((share) => share.toFixed(2)).join(', ')}`);
  t.ok(Math.min(...shares) <= 1 / 3, `${Math.min(...shares).toFixed(2)} of a request`);
});

/** The time that a tenth of them stays below. */
function fastTenth(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 10)] ?? 0;
}

/** A pool that counts what it is asked: statements of its own, and transactions. */
function countingPool(pool: DatabasePool, asked: { statements: number }): DatabasePool {
  return new Proxy(pool, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return (...given: readonly unknown[]): unknown => {
        asked.statements += 1;
        return Reflect.apply(member, target, given);
      };
    },
  });
}
