import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openDatabaseOf } from '../faults/oracle.ts';
import { pidOf, signalChild, untilRestarted } from '../harness/children.ts';
import { eventually, runToEnd, startNode } from '../harness/processes.ts';
import { threeAgents } from '../harness/three-agents.ts';

/* A check by hand on five probes, some of which vanish while it is under way, and a broker that does. */

type Missing = readonly { readonly probe_id: number; readonly reason: string }[];
type Answer = {
  readonly status: string;
  readonly results: readonly { readonly probe_id: number; readonly status: string }[];
  readonly missing: Missing;
};

const timeoutSeconds = 8;
/** What the product promises, and as much again as a busy machine may need to notice. */
const mostMs = timeoutSeconds * 1_000 + 5_000 + 10_000;
const addresses = ['127.0.0.71', '127.0.0.72', '127.0.0.73', '127.0.0.74', '127.0.0.75'];

const world = await threeAgents(t, addresses);
const { product, api, target, agents, running } = world;
const pool = openDatabaseOf(product);
t.teardown(() => pool.end());
// They were registered at once, in any order; answers are in the order of the identifiers.
const probeIds = agents.map((agent) => agent.probeId).sort((one, other) => one - other);
const [killed = 0, stopped = 0, ...others] = probeIds;
const indexOf = (probeId: number): number => agents.findIndex((agent) => agent.probeId === probeId);
const addressOf = (probeId: number): string => addresses[indexOf(probeId)] ?? '';
const processOf = (probeId: number) => running[indexOf(probeId)];

const path = await world.monitor('by hand', {
  interval_seconds: 3_600,
  timeout_seconds: timeoutSeconds,
  probe_ids: probeIds,
});

/** Results of checks by hand that are stored, by probe. */
async function stored(): Promise<Record<number, number>> {
  const { rows } = await pool.query<{ probe_id: number; n: number }>(
    'select probe_id, count(*)::integer as n from check_results where monitor_id = $1 and (flags & 3) = 2 group by 1 order by 1',
    [Number(path.split('/').at(-1))],
  );
  return Object.fromEntries(rows.map(({ probe_id: probeId, n }) => [probeId, n]));
}

/** Resolves when each of these has been asked once more than it was. */
function askedOnceMore(of: readonly number[]): () => Promise<unknown> {
  const before = of.map((probeId) => target.asked(addressOf(probeId)).length);
  return () =>
    eventually('the target to be asked', async () =>
      of.every((probeId, at) => target.asked(addressOf(probeId)).length > (before[at] ?? 0)),
    );
}

async function timed<Result>(work: Promise<Result>): Promise<{ answer: Result; tookMs: number }> {
  const startMs = performance.now();
  const answer = await work;
  return { answer, tookMs: performance.now() - startMs };
}

const check = (body?: object) => api.call<Answer>('POST', `${path}/check`, 200, body);
const all = (count: number) => Object.fromEntries(probeIds.map((probeId) => [probeId, count]));
const isAll = async (counts: Record<number, number>) => JSON.stringify(await stored()) === JSON.stringify(counts);

await t.test('all answer, and each has one result by hand', async (t) => {
  await eventually(
    'the first scheduled results',
    async () => addresses.every((address) => target.asked(address).length > 0),
    { timeoutMs: 60_000 },
  );
  t.match(await check(), {
    status: 'UP',
    results: probeIds.map((id) => ({ probe_id: id, status: 'UP' })),
    missing: [],
  });
  await eventually('the results', () => isAll(all(1)), { timeoutMs: 60_000 });
  const two = await check({ probe_ids: [killed, stopped] });
  t.same(
    two.results.map((result) => result.probe_id),
    [killed, stopped],
  );
  await eventually('the results of two', () => isAll({ ...all(1), [killed]: 2, [stopped]: 2 }), { timeoutMs: 60_000 });
});

await t.test('of five one is killed and one stands still: the others count, and those two are named', async (t) => {
  for (const probeId of [killed, stopped]) target.towards(addressOf(probeId), 'hang');
  const begun = askedOnceMore([killed, stopped]);
  const checking = timed(check());
  await begun();
  processOf(stopped)?.kill('SIGSTOP');
  processOf(killed)?.kill('SIGKILL');
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::integer as n from pg_stat_activity
     where usename = 'parallax_api' and state like '%in transaction%' and now() - xact_start > interval '1 second'`,
  );
  t.same(rows, [{ n: 0 }], 'no request holds a transaction while it waits');
  const { answer, tookMs } = await checking;
  t.match(answer, { status: 'UP', results: others.map((id) => ({ probe_id: id, status: 'UP' })) });
  t.equal(answer.results.length, 3);
  t.match(answer.missing, [
    { probe_id: killed, reason: /session has ended/ },
    { probe_id: stopped, reason: /did not answer in time|session has ended/ },
  ]);
  t.ok(tookMs < mostMs, `answered after ${Math.round(tookMs)} ms`);
  processOf(stopped)?.kill('SIGCONT');
  const again = agents[indexOf(killed)]?.start();
  if (again !== undefined) running[indexOf(killed)] = again;
  target.everybody('answer');
  await eventually(
    'all to answer again',
    async () => (await check({ probe_ids: [killed, stopped] })).missing.length === 0,
    { timeoutMs: 90_000, everyMs: 1_000 },
  );
  const last = await check();
  t.equal(last.results.length, 5, JSON.stringify(last.missing));
  await eventually('the results of the others', async () => {
    const counts = await stored();
    return others.every((probeId) => counts[probeId] === 3);
  });
});

await t.test('a probe that stood still past the deadline leaves nothing behind', async (t) => {
  const before = await settled();
  target.towards(addressOf(stopped), 'hang');
  const begun = askedOnceMore([stopped]);
  const checking = api.call('POST', `${path}/check`, 503, { probe_ids: [stopped] });
  await begun();
  processOf(stopped)?.kill('SIGSTOP');
  t.match(await checking, { code: 'probe_unreachable', detail: /did not answer in time|session has ended/ });
  // Asked while it stands still, it hears of this one too late, if at all.
  const lastMs = performance.now();
  t.match(await api.call('POST', `${path}/check`, 503, { probe_ids: [stopped] }), { code: 'probe_unreachable' });
  // The session may have ended before: what the probe finished within its time would be kept, and shown among the results.
  await delay(Math.max(0, lastMs + timeoutSeconds * 1_000 + 5_000 - performance.now()));
  target.everybody('answer');
  processOf(stopped)?.kill('SIGCONT');
  await eventually('an answer', async () => (await check({ probe_ids: [stopped] })).missing.length === 0, {
    timeoutMs: 90_000,
    everyMs: 1_000,
  });
  await eventually('its result', async () => (await stored())[stopped] !== before[stopped], { timeoutMs: 60_000 });
  const expected = Object.fromEntries(probeIds.map((id) => [id, (before[id] ?? 0) + (id === stopped ? 2 : 1)]));
  t.same(await settled(), expected, 'only of what was answered, the last look included');
});

await t.test('without the broker it is answered in time too, and what comes back later is not run', async (t) => {
  const asked = target.asked(addressOf(killed)).length;
  signalChild(product, 'nats-server', 'SIGSTOP');
  const { answer, tookMs } = await timed(api.call('POST', `${path}/check`, 503));
  signalChild(product, 'nats-server', 'SIGCONT');
  t.match(answer, { code: 'probe_unreachable', detail: new RegExp(`probe ${killed}: .*probe ${stopped}: `) });
  t.ok(tookMs < mostMs, `answered after ${Math.round(tookMs)} ms`);
  await eventually('an answer', async () => (await check({ probe_ids: [killed] })).missing.length === 0, {
    timeoutMs: 60_000,
    everyMs: 1_000,
  });
  t.equal(target.asked(addressOf(killed)).length, asked + 1, 'the question that the broker kept is not asked late');

  const pid = pidOf(product, 'nats-server');
  for (const probeId of others) target.towards(addressOf(probeId), 'hang');
  const begun = askedOnceMore(others);
  const asking = fetch(`${product.baseUrl}${path}/check`, {
    method: 'POST',
    headers: { authorization: await signIn(), 'content-type': 'application/json' },
    body: JSON.stringify({ probe_ids: others }),
  });
  const checking = timed(asking);
  await begun();
  process.kill(pid, 'SIGKILL');
  const { answer: response, tookMs: laterMs } = await checking;
  t.ok(laterMs < mostMs, `answered after ${Math.round(laterMs)} ms`);
  // Those who answer after it was started again are heard; the others are named.
  const told = (await response.json()) as Partial<Answer> & { detail?: string };
  if (response.status === 200) t.equal((told.results?.length ?? 0) + (told.missing?.length ?? 0), others.length);
  else t.match({ status: response.status, ...told }, { status: 503, code: 'probe_unreachable' });
  target.everybody('answer');
  await untilRestarted(product, 'nats-server', pid);
  await eventually('all to answer again', async () => (await check({ probe_ids: others })).missing.length === 0, {
    timeoutMs: 90_000,
    everyMs: 1_000,
  });
});

await t.test('a client that hangs up leaves the probes alone and nothing open', async (t) => {
  const before = await settled();
  for (const probeId of others) target.towards(addressOf(probeId), 'hang');
  const begun = askedOnceMore(others);
  const hangUp = new AbortController();
  const headers = { authorization: await signIn() };
  const asking = fetch(`${product.baseUrl}${path}/check`, { method: 'POST', headers, signal: hangUp.signal });
  await begun();
  hangUp.abort();
  await t.rejects(asking, { name: 'AbortError' });
  // They finish what they were asked for, once.
  await eventually(
    'one result of each',
    () => isAll(Object.fromEntries(probeIds.map((id) => [id, (before[id] ?? 0) + 1]))),
    {
      timeoutMs: 60_000,
    },
  );
  target.everybody('answer');
  t.equal((await check()).results.length, 5);
});

/** For requests that the client of these tests does not make. */
async function signIn(): Promise<string> {
  const account = { email: 'first@example.org', password: 'a long enough passphrase' };
  const login = await api.call<{ access_token: string }>('POST', '/api/v1/auth/login', 200, account);
  return `Bearer ${login.access_token}`;
}

/** The counts after everything that the probes have kept was stored: an own check of each comes behind whatever it kept before. */
async function settled(): Promise<Record<number, number>> {
  const before = await stored();
  const { missing } = await check();
  if (missing.length > 0) throw new Error(JSON.stringify(missing));
  await eventually(
    'the results behind',
    async () => {
      const now = await stored();
      return probeIds.every((id) => (now[id] ?? 0) > (before[id] ?? 0));
    },
    { timeoutMs: 60_000 },
  );
  return stored();
}

await t.test(
  'a stranger’s monitor reaches the private range that their workspace is allowed, and only while it is',
  async (t) => {
    const account = { email: 'tenant@example.org', password: 'a long enough passphrase' };
    await api.call('POST', '/api/v1/auth/register', 201, account);
    const { access_token: token } = await api.call<{ access_token: string }>(
      'POST',
      '/api/v1/auth/login',
      200,
      account,
    );
    const tenant = api.withToken(token);
    const { id: workspaceId } = await tenant.call<{ id: number }>('GET', '/api/v1/workspaces/default', 200);
    const body = {
      workspace_id: workspaceId,
      name: 'inside',
      url: target.url,
      interval_seconds: 3_600,
      timeout_seconds: 5,
    };
    await tenant.call('POST', '/api/v1/monitors', 422, body);
    const allow = async (...ranges: readonly string[]): Promise<void> => {
      const command = ['control-plane/src/main.ts', 'workspace', 'allow-ranges', String(workspaceId), ...ranges];
      await runToEnd(startNode(command, product.environment), 'the command');
    };
    await allow('127.0.0.0/8');
    const { id } = await tenant.call<{ id: number }>('POST', '/api/v1/monitors', 201, body);
    const byHand = () =>
      tenant.call<{ results: { status: string; error_code: string | null }[] }>(
        'POST',
        `/api/v1/monitors/${id}/check`,
        200,
        {},
      );
    const allSay = (wanted: string | null) =>
      eventually(`every probe to say ${wanted}`, async () => {
        const { results } = await byHand();
        return results.length > 0 && results.every(({ error_code: code }) => code === wanted);
      });
    await allSay(null);
    await allow('--none');
    await allSay('address_denied');
    t.pass('reached while it was allowed, denied before and after');
  },
);
