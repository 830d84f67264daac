import { isWhole, sampleSeed } from '@parallax/testkit/extent';
import t from 'tap';
import type { Test } from 'tap';
import { capabilities } from '../../control-plane/src/capabilities.ts';
import { badCases } from './bad-input/cases.ts';
import type { BadCase } from './bad-input/cases.ts';
import { fileCases, foreignCases, foreignSettingsCases, headerCases, settingsCases } from './bad-input/more-cases.ts';
import type { Foreign } from './bad-input/more-cases.ts';
import { oneInEach } from './hostile/sample.ts';
import { refusalFault } from './refusals.ts';
import { openWorld } from './world.ts';

const world = await openWorld(t);
const contracts = capabilities
  .flatMap((capability) => capability.routes?.(world.context) ?? [])
  .map((route) => route.contract)
  .filter(({ path }) => /^\/api\/v1\/(monitors|monitor-groups|api-checks)(\/|$)/.test(path));

/** What belongs to somebody else. */
async function foreign(): Promise<Foreign> {
  const { accessToken: token } = await world.account('somebody.else@example.com');
  const list = await world.call('GET', '/api/v1/workspaces', { token });
  const workspace = (list.body['workspaces'] as { id: number }[])[0]?.id ?? 0;
  const body = { workspace_id: workspace, name: 'theirs' };
  const apiCheck = { ...body, name: 'their check', url: world.target, steps: [{}] };
  const check = await world.call('POST', '/api/v1/api-checks', { token, body: apiCheck });
  const monitor = await world.call('POST', '/api/v1/monitors', { token, body: { ...body, url: world.target } });
  const group = await world.call('POST', '/api/v1/monitor-groups', { token, body });
  const ids = { monitor: Number(monitor.body['id']), group: Number(group.body['id']), check: Number(check.body['id']) };
  return { ...ids, workspace, probe: 2_000_000_000 };
}

const monitorId = await world.monitor();
const group = await world.make('POST', '/api/v1/monitor-groups', { workspace_id: world.workspaceId, name: 'there' });
const check = await world.make('POST', '/api/v1/api-checks', {
  workspace_id: world.workspaceId,
  url: world.target,
  steps: [{}],
});
const theirs = await foreign();

/** The path of a route with things of the account. */
function targetOf(path: string): string {
  return path
    .replace(':monitor_id', String(monitorId))
    .replace(/:id\b/, String((path.startsWith('/api/v1/api-checks/') ? check : group).body['id']))
    .replaceAll(/:[a-z_]+/g, '1');
}

const known = {
  workspace_id: world.workspaceId,
  monitor_id: monitorId,
  monitor_ids: [monitorId],
  api_check_id: check.body['id'],
  url: 'http://127.0.0.1:1/',
  name: 'tried',
  steps: [{}],
};

/** What of a case the answer does not keep to; undefined when all is well. */
async function faultOf(bad: BadCase): Promise<string | undefined> {
  const answer = await fetch(world.url + bad.target, {
    method: bad.method,
    headers: { authorization: `Bearer ${world.token}`, ...bad.headers },
    ...(bad.body === undefined ? {} : { body: bad.body }),
  });
  const text = await answer.text();
  const told = `${bad.name}: ${answer.status} ${text.slice(0, 300)}`;
  if (!bad.statuses.includes(answer.status)) return told;
  const refused = answer.status === 422 ? refusalFault(answer.status, JSON.parse(text)) : undefined;
  if (refused !== undefined) return `${bad.name}: ${refused}`;
  const { path } = bad;
  if (path === undefined || answer.status === 413) return undefined;
  const { errors = [] } = JSON.parse(text) as { errors?: { path: string }[] };
  const isNamed = errors.some((error) => error.path === path || error.path.startsWith(`${path}/`));
  return isNamed ? undefined : `${told} does not name ${path}`;
}

async function faultsOf(cases: readonly BadCase[]): Promise<readonly string[]> {
  const waiting = [...cases];
  const faults: string[] = [];
  const worker = async (): Promise<void> => {
    for (let bad = waiting.pop(); bad !== undefined; bad = waiting.pop()) {
      const fault = await faultOf(bad);
      if (fault !== undefined) faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return faults;
}

/** Each field of a route, or setting of a type, meets one in so many of its wrong values. */
const oneIn = isWhole ? 1 : 6;

function sampled(t: Test, cases: readonly BadCase[]): readonly BadCase[] {
  const placeOf = ({ name, path = '' }: BadCase): string => `${name.split(': ')[0] ?? ''} ${path}`;
  const sample = oneInEach(cases, placeOf, oneIn, sampleSeed);
  const places = new Set(sample.map(placeOf));
  t.equal(places.size, new Set(cases.map(placeOf)).size, `${places.size} places, and each is tried`);
  t.ok(
    sample.length >= cases.length / oneIn,
    `1 in ${oneIn}, seed ${sampleSeed}: ${sample.length} of ${cases.length} cases`,
  );
  return sample;
}

const few = (faults: readonly string[]): readonly string[] => faults.slice(0, 40);

void t.test('every field of every route is refused by its name when it is wrong', { timeout: 580_000 }, async (t) => {
  const cases = contracts.flatMap((contract) => badCases(contract, targetOf(contract.path), known));
  t.ok(contracts.length > 20, `${contracts.length} routes`);
  t.ok(cases.length > 500, `${cases.length} cases`);
  t.same(few(await faultsOf(sampled(t, cases))), []);
});

void t.test('every setting of every check type is refused by its name', { timeout: 580_000 }, async (t) => {
  const cases = settingsCases(known);
  t.ok(cases.length > 500, `${cases.length} cases`);
  t.same(few(await faultsOf(sampled(t, cases))), []);
});

void t.test('media types and encodings that are not taken are refused', async (t) => {
  const cases = contracts.flatMap((contract) => headerCases(contract, targetOf(contract.path), known));
  t.ok(cases.length > 50, `${cases.length} cases`);
  t.same(few(await faultsOf(cases)), []);
});

void t.test('identifiers of others are refused in every field and list, by their place', async (t) => {
  const cases = contracts.flatMap((contract) => foreignCases(contract, targetOf(contract.path), known, theirs));
  t.ok(cases.length > 10, `${cases.length} cases`);
  const inSettings = foreignSettingsCases(known, theirs);
  t.ok(inSettings.length > 0, `${inSettings.length} of them in settings`);
  t.same(few(await faultsOf([...cases, ...inSettings])), []);
});

void t.test('files that are none are refused', async (t) => {
  const cases = contracts.flatMap((contract) => fileCases(contract, targetOf(contract.path)));
  t.ok(cases.length > 10, `${cases.length} cases`);
  t.same(few(await faultsOf(cases)), []);
});

void t.test('and everything is as it was', async (t) => {
  t.match((await world.call('GET', `/api/v1/monitors/${monitorId}`, { token: world.token })).body, {
    name: 'contract 1',
    version: 1,
  });
  t.match(
    (await world.call('GET', `/api/v1/monitor-groups/${String(group.body['id'])}`, { token: world.token })).body,
    { version: 1 },
  );
  t.match((await world.call('GET', `/api/v1/api-checks/${String(check.body['id'])}`, { token: world.token })).body, {
    version: 1,
  });
});
