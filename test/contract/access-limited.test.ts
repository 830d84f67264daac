import t from 'tap';
import { openActors } from './access/actors.ts';
import { ruledRoutes } from './access/matrix.ts';
import { openWorld } from './world.ts';

/*
 * Every route with tokens and keys that are limited to another workspace of the same account, and with those that may only read.
 */

const administrator = { email: 'administrator@example.com', password: 'a rather long phrase 7' };
const world = await openWorld(t, { administrator: administrator.email });
await openActors(world, administrator);
const other = Number((await world.make('POST', '/api/v1/workspaces', { name: 'another of mine' })).body['id']);
const own = await world.make('GET', `/api/v1/workspaces/${world.workspaceId}`);
const pingKey = String(own.body['ping_key']);

const made = async (path: string, body: object) =>
  (await world.make('POST', `/api/v1${path}`, { name: 'limited', ...body })).body;
const elsewhere = { workspace_ids: [other] };
const limited = [
  { name: 'a token for another workspace', token: String((await made('/auth/tokens', elsewhere))['token']) },
  { name: 'a key for another workspace', key: String((await made('/api-keys', elsewhere))['key']) },
];
const reader = String((await made('/auth/tokens', { read_only: true }))['token']);

/** Routes of the account itself, which holds for all workspaces. */
const ofAccount =
  /^\/api\/v1\/(auth|api-keys|alert-channel-configs|messenger-(bot|groups)|web-push|feedback)(\/|$)|\/(leave|set-default)$/;
const shows = (text: string): boolean => /"contract[ -]/.test(text) || text.includes(pingKey);

await t.test('every route keeps to what a token or key is limited to', async (t) => {
  const counts = { refused: 0, empty: 0, ofAccount: 0 };
  for (const { name, contract, rule, recipe } of ruledRoutes(t, world)) {
    if (rule.least === 'anybody' || contract.credentials === 'none' || contract.credentials === 'secret-header')
      continue;
    const { path, body, headers } = await recipe(world);
    const sent = { ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) };
    const ask = (credentials: { readonly token?: string; readonly key?: string }) =>
      world.call(contract.method, path, { ...credentials, ...sent });
    for (const { name: who, ...credentials } of limited) {
      const { status, text } = await ask(credentials);
      const told = `${name} by ${who}: ${status} ${text.slice(0, 300)}`;
      if (shows(text)) t.fail(told);
      if (rule.least !== 'account' && status < 400) t.fail(told);
      if (ofAccount.test(contract.path) && status !== 403 && status !== 404) t.fail(told);
      if (status < 400) counts.empty += 1;
      else counts.refused += 1;
    }
    const { status, text } = await ask({ token: reader });
    const told = `${name} by a token that may read: ${status} ${text.slice(0, 300)}`;
    if (text.includes(pingKey)) t.fail(told);
    if (contract.method !== 'GET' && status < 400) t.fail(told);
    if (!ofAccount.test(contract.path)) continue;
    counts.ofAccount += 1;
    if (status !== 403) t.fail(told);
  }
  for (const path of ['/api/v1/monitors', '/api/v1/workspaces'])
    t.ok(shows((await world.make('GET', path)).text), `${path} shows what is looked for to the account itself`);
  t.ok(counts.refused > 250, `${counts.refused} refused`);
  t.ok(counts.empty > 30, `${counts.empty} without anything of the workspace`);
  t.ok(counts.ofAccount > 40, `${counts.ofAccount} of the account`);
});
