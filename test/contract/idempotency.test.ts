import t from 'tap';
import { allRoutes } from '../../control-plane/src/app.ts';
import { openApiDocument } from '../../control-plane/src/platform/http/openapi.ts';
import { moreRecipes } from './access/more-recipes.ts';
import { recipes } from './recipes.ts';
import type { Recipe } from './recipes.ts';
import { contractOf, nameOf, rows } from './table.ts';
import { openWorld } from './world.ts';

/* Every route that creates takes an idempotency key: sent twice under one, a request is done once. */

/** What proves who somebody is: it is asked for by a password or a device, and its answer is not kept for a day. */
const withoutKeys = new Set([
  'POST /api/v1/auth/mfa/totp',
  'POST /api/v1/auth/mfa/recovery-codes',
  'POST /api/v1/auth/mfa/passkeys',
]);

const world = await openWorld(t);
const contracts = allRoutes(world.context).map((route) => route.contract);
const nameOfContract = ({ method, path }: (typeof contracts)[number]) => `${method} ${path}`;

await t.test('every POST that creates for a known caller takes a key, and says so', async (t) => {
  const creating = contracts.filter(
    ({ method, success, credentials }) => method === 'POST' && success.status === 201 && credentials !== 'none',
  );
  t.same(
    creating.filter((contract) => contract.idempotent !== true).map(nameOfContract),
    [...withoutKeys],
    'a new one needs `idempotent: true`',
  );
  const document = openApiDocument(contracts) as { paths: Record<string, Record<string, { parameters?: unknown }>> };
  for (const contract of contracts.filter(({ idempotent }) => idempotent === true)) {
    const path = contract.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    const operation = document.paths[path]?.[contract.method.toLowerCase()];
    const parameters = operation?.parameters as { name: string; in: string }[] | undefined;
    t.ok(
      parameters?.some((parameter) => parameter.name === 'Idempotency-Key' && parameter.in === 'header'),
      nameOfContract(contract),
    );
    t.match(operation, { responses: { 409: {}, 422: {} } });
  }
});

for (const contract of contracts.filter(({ idempotent }) => idempotent === true)) {
  await t.test(nameOfContract(contract), async (t) => {
    const recipe = recipeOf(contract);
    if (recipe === undefined) return t.fail('there is no recipe');
    const { path, body, token = world.token } = await recipe(world);
    const headers = { 'idempotency-key': `key ${world.unique()}` };
    const send = () => world.call('POST', path, { token, headers, ...(body === undefined ? {} : { body }) });
    const first = await send();
    const again = await send();
    t.equal(first.status, contract.success.status, first.text.slice(0, 300));
    t.equal(again.status, first.status);
    t.equal(again.text, first.text, 'the same answer');
    t.equal(again.headers.get('idempotency-replayed'), 'true');
  });
}

function recipeOf(contract: (typeof contracts)[number]): Recipe | undefined {
  const row = rows.find((one) => contractOf(one, [contract]) !== undefined);
  return moreRecipes[nameOfContract(contract)] ?? (row === undefined ? undefined : recipes[nameOf(row)]);
}
