import { problemSchema } from '@parallax/api-contract';
import type { RouteContract } from '@parallax/api-contract';
import t from 'tap';
import type { Test } from 'tap';
import { allRoutes } from '../../control-plane/src/app.ts';
import type { TestAnswer, TestCall } from '../../control-plane/src/identity/testing.ts';
import { undocumented } from './document.ts';
import { meaningful, recipes } from './recipes.ts';
import type { Prepared } from './recipes.ts';
import { contractOf, nameOf, rows, statusOf, trialsOf } from './table.ts';
import type { Row } from './table.ts';
import { openWorld } from './world.ts';

/*
 * A behaviour test of every row of the specification's table that is built: the credentials that it takes and refuses, its success
 * status and body, its query parameters at and beyond each bound, and its identifiers.
 */

/** Parts of paths that are no numbers. */
const textual: ReadonlySet<string> = new Set(['{ping_key}', '{slug}', '{channel}']);

type Credentials = Pick<TestCall, 'token' | 'key'>;

const world = await openWorld(t);
const contracts = allRoutes(world.context).map((route) => route.contract);
const built = rows.flatMap((row) => {
  const contract = contractOf(row, contracts);
  return contract === undefined ? [] : [{ row, contract }];
});

await t.test('the table is the specification, and what is not built is counted', async (t) => {
  t.equal(rows.length, 188);
  const missing = rows.filter((row) => contractOf(row, contracts) === undefined);
  t.comment(`${built.length} of ${rows.length} endpoints are built; ${missing.length} are not:`);
  for (const row of missing) t.comment(`not built: ${nameOf(row)}`);
  t.same(
    built.map(({ row }) => nameOf(row)).filter((name) => recipes[name] === undefined),
    [],
    'every row that is built has a recipe here',
  );
  t.same(
    Object.keys(recipes).filter((name) => !built.some(({ row }) => nameOf(row) === name)),
    [],
    'what once was built stays built',
  );
});

/** What everybody may read is kept between the product and its readers; all else is theirs alone. */
const cacheControls = new Map([
  ['GET /api/v1/public/status/{slug}', 'public, max-age=15, stale-while-revalidate=60, stale-if-error=86400'],
]);

for (const { row, contract } of built) {
  await t.test(nameOf(row), async (t) => {
    const prepared = await prepare(row);
    await refusesOthers(t, row, contract, prepared);
    // Reading changes nothing, so one preparation serves all reads; each write needs its own.
    for (const credentials of acceptedBy(row)) {
      await succeeds(t, row, contract, credentials, row.method === 'GET' ? prepared : await prepare(row));
    }
    for (const name of Object.keys(row.query ?? {})) await keepsBounds(t, row, contract, name, prepared);
    await judgesIdentifiers(t, row, prepared);
  });
}

async function prepare(row: Row): Promise<Prepared> {
  const recipe = recipes[nameOf(row)];
  if (recipe === undefined) throw new Error(`no recipe for ${nameOf(row)}`);
  return recipe(world);
}

function call(row: Row, prepared: Prepared, credentials: Credentials, query = ''): Promise<TestAnswer> {
  const { path, body, headers } = prepared;
  // A parameter that is tried takes the place of the one that the path has.
  return world.call(row.method, query === '' ? path : `${path.split('?')[0]}${query}`, {
    ...credentials,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
}

function acceptedBy(row: Row): Credentials[] {
  switch (row.auth) {
    case 'none':
    case 'x-secret-header':
      return [{}];
    case 'bearer':
      return [{ token: world.token }];
    case 'api-key-or-bearer':
      return [{ token: world.token }, { key: world.apiKey }];
  }
}

async function succeeds(
  t: Test,
  row: Row,
  contract: RouteContract,
  credentials: Credentials,
  prepared: Prepared,
): Promise<void> {
  const own = prepared.token === undefined ? credentials : { token: prepared.token };
  const answer = await call(row, prepared, own);
  const status = statusOf(row, contract);
  const kind = own.key === undefined ? (own.token === undefined ? 'nothing' : 'an access token') : 'an API key';
  if (!t.equal(answer.status, status, `${status} with ${kind}`)) t.comment(JSON.stringify(answer.body).slice(0, 1_000));
  t.equal(contract.success.status, status, 'the contract names the same status');
  t.equal(answer.headers.get('cache-control'), cacheControls.get(nameOf(row)) ?? 'no-store');
  t.equal(undocumented(contract.method, contract.path, answer), undefined, 'and the document says so');
  if (contract.success.answer === undefined) {
    t.equal(answer.text, '', 'no body');
    return;
  }
  const { contentType } = contract.success;
  if (contentType !== undefined && !contentType.includes('json')) {
    t.equal(answer.headers.get('content-type'), contentType, `a file of ${contentType}`);
    const isFile = !contentType.startsWith('text/plain');
    if (isFile) t.match(answer.headers.get('content-disposition'), /^attachment; filename/, 'with a name');
    t.ok(answer.text.length > 0, 'that is not empty');
    return;
  }
  const parsed = contract.success.answer.safeParse(answer.body);
  t.ok(parsed.success, `the body fits the contract ${parsed.success ? '' : parsed.error.message}`);
  t.same(parsed.data, answer.body, 'and holds nothing beside it');
}

async function refusesOthers(t: Test, row: Row, contract: RouteContract, prepared: Prepared): Promise<void> {
  if (row.auth === 'none' || row.auth === 'x-secret-header') return;
  const refusals: [string, Credentials, number][] = [
    // A sign-in that is listed with a token must work for whoever has none yet.
    ...(contract.credentials === 'bearer-or-none'
      ? []
      : [['no credentials', {}, 401] as [string, Credentials, number]]),
    ['a token that is none', { token: 'eyJhbGciOiJub25lIn0.e30.' }, 401],
    ['a key that is none', { key: 'plx_00000000000000000000000000000000' }, 401],
  ];
  if (row.auth === 'bearer') refusals.push(['an API key', { key: world.apiKey }, 403]);
  for (const [what, credentials, status] of refusals) {
    const answer = await call(row, prepared, credentials);
    isProblem(t, answer, status, `${what} is ${status}`);
    if (status === 401) t.ok(answer.headers.get('www-authenticate'), 'with WWW-Authenticate');
  }
}

async function keepsBounds(
  t: Test,
  row: Row,
  contract: RouteContract,
  name: string,
  prepared: Prepared,
): Promise<void> {
  const parameter = row.query?.[name];
  if (parameter === undefined) return;
  const [credentials = {}] = acceptedBy(row);
  const ask = (value: string) => call(row, prepared, credentials, `?${name}=${encodeURIComponent(value)}`);
  for (const { value, isTaken } of trialsOf(parameter)) {
    const answer = await ask(value);
    const shown = value.length > 40 ? `${value.length} characters` : value;
    if (isTaken) {
      t.equal(answer.status, statusOf(row, contract), `${name}=${shown} is taken`);
      continue;
    }
    isProblem(t, answer, 422, `${name}=${shown} is 422`);
    t.match(answer.body['errors'], [{ in: 'query', path: `/${name}` }], `and says that it is ${name}`);
  }
  const meaning = meaningful[name];
  if (meaning !== undefined) t.equal((await ask(meaning(world))).status, statusOf(row, contract), `${name} of the own`);
  if (parameter.default !== undefined) await hasDefault(t, row, name, String(parameter.default), prepared);
}

/** Leaving a parameter out and giving its default is one and the same. */
async function hasDefault(t: Test, row: Row, name: string, value: string, prepared: Prepared): Promise<void> {
  const [credentials = {}] = acceptedBy(row);
  const left = await call(row, prepared, credentials);
  const given = await call(row, prepared, credentials, `?${name}=${encodeURIComponent(value)}`);
  t.same(withoutClock(given.body), withoutClock(left.body), `${name} is ${value} when left out`);
  if (name === 'page' || name === 'page_size') t.equal(left.body[name], Number(value));
}

/** The bounds of a timeline and of a report move with the clock, and so does how long nothing was known; their distance does not. */
function withoutClock(body: Record<string, unknown>): Record<string, unknown> {
  const { from: _from, to, requested_from: from, requested_to: _until, ...more } = body;
  const { seconds: _seconds, generated_at: _at, ...others } = more;
  const { unknown_seconds: _unknown, ...rest } = others;
  if (typeof from !== 'string' || typeof to !== 'string') return rest;
  return { ...rest, ms: Date.parse(to) - Date.parse(from) };
}

/** Each identifier of the path in turn, the others being those that were prepared. */
async function judgesIdentifiers(t: Test, row: Row, prepared: Prepared): Promise<void> {
  const given = prepared.path.split('/');
  const [credentials = {}] = acceptedBy(row);
  for (const [index, name] of row.path.split('/').entries()) {
    if (!name.startsWith('{')) continue;
    if (textual.has(name)) {
      isProblem(
        t,
        await call(row, { ...prepared, path: given.with(index, 'nothing').join('/') }, credentials),
        404,
        `no such ${name}`,
      );
      continue;
    }
    const at = (id: string) => call(row, { ...prepared, path: given.with(index, id).join('/') }, credentials);
    // A slug is any text; one that nobody has is not told from one of a wrong form.
    const status = name === '{slug}' ? 404 : 422;
    for (const id of ['0', '-1', '2147483648', 'abc', '1.5', '1e3'])
      isProblem(t, await at(id), status, `the ${name} ${id} is ${status}`);
    isProblem(t, await at('2147483647'), 404, `a ${name} of nothing is 404`);
    isProblem(t, await at('%zz'), 404, 'bad percent-encoding is 404');
  }
}

function isProblem(t: Test, answer: TestAnswer, status: number, message: string): void {
  t.equal(answer.status, status, message);
  t.match(answer.headers.get('content-type'), /^application\/problem\+json/);
  t.ok(problemSchema.safeParse(answer.body).success, 'the body is a problem');
}
