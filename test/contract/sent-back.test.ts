import type { RouteContract } from '@parallax/api-contract';
import t from 'tap';
import type { z } from 'zod';
import { allRoutes } from '../../control-plane/src/app.ts';
import { readOnlyFields } from '../../control-plane/src/platform/http/repeated-fields.ts';
import type { TestAnswer, TestCall } from '../../control-plane/src/identity/testing.ts';
import { moreRecipes } from './access/more-recipes.ts';
import { recipes } from './recipes.ts';
import type { Prepared, Recipe } from './recipes.ts';
import { openWorld } from './world.ts';

/*
 * What a GET answered may be changed and sent back by PATCH and PUT, and no field that a route does not know is passed over in silence.
 */

const world = await openWorld(t);
const contracts = allRoutes(world.context).map((route) => route.contract);
const byName = new Map(
  Object.entries(recipes).map(([name, recipe]) => [name.replaceAll(/\{[^}]+\}/g, '*'), recipe] as const),
);

function recipeOf({ method, path }: RouteContract): Recipe | undefined {
  return moreRecipes[`${method} ${path}`] ?? byName.get(`${method} ${path.replaceAll(/:[a-z_]+/g, '*')}`);
}

function send(contract: RouteContract, prepared: Prepared, body: unknown): Promise<TestAnswer> {
  const credentials: TestCall = { token: prepared.token ?? world.token };
  const { headers } = prepared;
  return world.call(contract.method, prepared.path, {
    ...credentials,
    body,
    ...(headers === undefined ? {} : { headers }),
  });
}

type Listed = { readonly errors?: readonly { readonly path: string; readonly code: string }[] };
const errorsOf = (answer: TestAnswer): readonly string[] =>
  ((answer.body as Listed).errors ?? []).map(({ path, code }) => `${code} ${path}`);

/** Where a write counts though it says nothing new. */
const everyWriteIsAVersion: ReadonlySet<string> = new Set(['PATCH /api/v1/auth/me', 'PATCH /api/v1/probes/:probe_id']);

const changes = contracts.filter(
  (contract) =>
    ['PATCH', 'PUT'].includes(contract.method) &&
    contracts.some(({ method, path }) => method === 'GET' && path === contract.path),
);

/** Another value of the same kind. */
function another(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return `${value}x`;
  return Array.isArray(value) ? [...value, 'x'] : 'x';
}

for (const contract of changes) {
  void t.test(`${contract.method} ${contract.path} takes back what GET gave`, async (t) => {
    const recipe = recipeOf(contract);
    if (recipe === undefined) throw new Error('no recipe');
    const prepared = await recipe(world);
    const token = prepared.token ?? world.token;
    const present = async () => (await world.call('GET', prepared.path, { token })).body;
    const read = await world.call('GET', prepared.path, { token });
    t.equal(read.status, 200, JSON.stringify(read.body));
    const same = await send(contract, prepared, read.body);
    t.equal(same.status, 200, JSON.stringify(same.body));
    if (!everyWriteIsAVersion.has(`${contract.method} ${contract.path}`))
      t.equal(same.body['version'], read.body['version'], 'what changes nothing is no version');

    const changed = await send(contract, prepared, { ...(await present()), ...(prepared.body as object) });
    t.equal(changed.status, 200, JSON.stringify(changed.body));

    const again = await present();
    for (const name of readOnlyFields(contract).filter((name) => contract.measured?.includes(name) !== true)) {
      const refused = await send(contract, prepared, { ...again, [name]: another(again[name]) });
      t.equal(refused.status, 422, `${name}: ${JSON.stringify(refused.body)}`);
      t.ok(errorsOf(refused).includes(`read_only /${name}`), `${name}: ${JSON.stringify(refused.body)}`);
    }
    for (const name of contract.measured ?? []) {
      t.ok(readOnlyFields(contract).includes(name), `${name} is a read-only field of the answer`);
      const refused = await send(contract, prepared, { [name]: another(again[name]) });
      const isLone = again['version'] !== undefined;
      if (isLone)
        t.ok(errorsOf(refused).includes(`read_only /${name}`), `${name} alone: ${JSON.stringify(refused.body)}`);
      const passed = await send(contract, prepared, { ...(await present()), [name]: another(again[name]) });
      t.equal(passed.status, 200, `${name} in a whole body: ${JSON.stringify(passed.body)}`);
    }
  });
}

type Def = { readonly type: string; readonly shape?: Shape; readonly innerType?: z.ZodType; readonly in?: z.ZodType };
type Shape = Readonly<Record<string, z.ZodType>>;

/** Fields of a body, through what stands around its object. */
function fieldsOf(body: z.ZodType | undefined): Shape {
  const { shape, innerType, in: input } = (body?.def ?? { type: 'none' }) as unknown as Def;
  const inner = innerType ?? input;
  return shape ?? (inner === undefined ? {} : fieldsOf(inner));
}

/** What is no default of a field by itself; see bodies.test.ts. */
const withoutDefault: ReadonlySet<string> = new Set([
  'PATCH /api/v1/alert-channel-configs/:config_id settings',
  'PATCH /api/v1/monitors/:monitor_id url',
  // Their values are shown to nobody.
  'PATCH /api/v1/webhooks/:id headers',
]);

void t.test('null takes a field back to its default, and GET shows it', async (t) => {
  let [tried, changed] = [0, 0];
  for (const contract of changes) {
    const creating = contracts.find(
      ({ method, path }) => method === 'POST' && path === contract.path.replace(/\/:[a-z_]+$/, ''),
    );
    const recipe = recipeOf(contract);
    const created = fieldsOf(creating?.body);
    const names = Object.keys(fieldsOf(contract.body)).filter((name) => created[name]?.def.type === 'default');
    if (recipe === undefined || names.length === 0) continue;
    const prepared = await recipe(world);
    const token = prepared.token ?? world.token;
    for (const name of names.filter((each) => !withoutDefault.has(`${contract.method} ${contract.path} ${each}`))) {
      const defaultValue = (created[name]?.def as { readonly defaultValue?: unknown } | undefined)?.defaultValue;
      // Others have words or parts of their own.
      const isPlain = typeof defaultValue === 'number' || typeof defaultValue === 'boolean';
      if (isPlain && (await send(contract, prepared, { [name]: another(defaultValue) })).status === 200) changed += 1;
      const answer = await send(contract, prepared, { [name]: null });
      const at = `${contract.method} ${contract.path} ${name}`;
      t.equal(answer.status, 200, `${at}: ${JSON.stringify(answer.body)}`);
      const shown = (await world.call('GET', prepared.path, { token })).body[name];
      t.match(shown, defaultValue, at);
      tried += 1;
    }
  }
  t.ok(tried >= 18, `${tried} fields`);
  t.ok(changed >= 10, `${changed} had another value before`);
});

void t.test('resources that can be read and changed are among them', async (t) => {
  t.ok(changes.length >= 12, `${changes.length} routes`);
});

/** Whose body is signed over every field, known or not. */
const signedWhole: ReadonlySet<string> = new Set(['POST /api/v1/auth/messenger/login']);

const taking = contracts.filter(
  (contract) => contract.body !== undefined && !signedWhole.has(`${contract.method} ${contract.path}`),
);
void t.test('a field that a route does not know is refused by its name', async (t) => {
  let tried = 0;
  for (const contract of taking) {
    const recipe = recipeOf(contract);
    if (recipe === undefined) continue;
    const prepared = await recipe(world);
    const answer = await send(contract, prepared, { ...(prepared.body as object | undefined), no_such_field: 1 });
    tried += 1;
    const told = `${contract.method} ${contract.path}: ${answer.status} ${JSON.stringify(answer.body)}`;
    t.equal(answer.status, 422, told);
    t.ok(errorsOf(answer).includes('unrecognized_keys /no_such_field'), told);
  }
  t.ok(tried > 70, `${tried} routes`);
});
