import type { RouteContract } from '@parallax/api-contract';
import type { Test } from 'tap';
import { allRoutes } from '../../../control-plane/src/app.ts';
import type { TestAnswer } from '../../../control-plane/src/identity/testing.ts';
import { undocumented } from '../document.ts';
import { recipes } from '../recipes.ts';
import type { Prepared, Recipe } from '../recipes.ts';
import { contractOf, nameOf, rows } from '../table.ts';
import type { World } from '../world.ts';
import { expected } from './actors.ts';
import type { Actor, Credentials } from './actors.ts';
import { moreRecipes } from './more-recipes.ts';
import { rules } from './rules.ts';
import type { Rule, Stranger } from './rules.ts';

/** A route with what is known of it. */
export type Ruled = {
  readonly name: string;
  readonly contract: RouteContract;
  readonly rule: Rule;
  readonly recipe: Recipe;
};

/** What belongs to the tried workspace carries this in its name, and shows in no answer to a stranger. */
const marker = 'contract';

/** Every route with its rule and a call; fails for one that lacks either. */
export function ruledRoutes(t: Test, world: World): readonly Ruled[] {
  const contracts = allRoutes(world.context).map((route) => route.contract);
  const names = contracts.map((contract) => `${contract.method} ${contract.path}`);
  t.same(
    names.filter((name) => rules[name] === undefined),
    [],
    'every route has a row in the table of roles',
  );
  t.same(
    Object.keys(rules).filter((name) => !names.includes(name)),
    [],
    'the table names no route that is gone',
  );
  t.same(
    contracts.filter(({ success }) => success.contentType?.startsWith('text/event-stream')).map(({ path }) => path),
    ['/api/v1/events/stream'],
    'no stream tells anything to whom the right to it was taken away: try a new one in access-streams.test.ts',
  );
  const listed = new Map(
    rows.flatMap((row) => {
      const contract = contractOf(row, contracts);
      const recipe = recipes[nameOf(row)];
      return contract === undefined || recipe === undefined ? [] : [[contract, recipe] as const];
    }),
  );
  // Probes come last: a monitor that is made once there are some is given to them, and they have no agents.
  const isOfProbes = ({ path }: RouteContract): boolean => path.startsWith('/api/v1/probes');
  const ordered = [...contracts.filter((one) => !isOfProbes(one)), ...contracts.filter(isOfProbes)];
  return ordered.flatMap((contract) => {
    const name = `${contract.method} ${contract.path}`;
    const rule = rules[name];
    const recipe = moreRecipes[name] ?? listed.get(contract);
    if (recipe === undefined) t.fail(`${name} has no recipe`);
    return rule === undefined || recipe === undefined ? [] : [{ name, contract, rule, recipe }];
  });
}

export type Matrix = {
  readonly world: World;
  readonly actors: readonly Actor[];
  readonly stranger: Stranger;
  /**
   * `exact`: every status is as the table has it. `closed`: what the table refuses to those outside of the workspace is refused, with whatever status,
   * and shows nothing; a list that is asked for something foreign may be empty. For a product in which one of the two walls is missing.
   */
  readonly judgement: 'exact' | 'closed';
};

/** Tries a route with everybody. */
export async function tryRoute(t: Test, { name, contract, rule, recipe }: Ruled, matrix: Matrix): Promise<void> {
  const { world, actors, stranger } = matrix;
  const route = { method: contract.method, path: contract.path, takes: contract.credentials };
  let prepared = await recipe(world);
  for (const actor of actors) {
    const wanted = expected(rule, actor, route);
    if (matrix.judgement === 'closed' && actor.role !== null) continue;
    const answer = await call(world, contract, prepared, credentialsOf(actor, prepared, wanted));
    judge(t, `${name} by ${actor.name}`, answer, wanted, { contract, rule, matrix });
    if (actor.role === null && rule.least !== 'anybody') showsNothing(t, `${name} by ${actor.name}`, answer);
    // What succeeded may have used up what was prepared.
    if (answer.status < 400 && contract.method !== 'GET') prepared = await recipe(world);
  }
  for (const { what, path, body } of (await rule.foreign?.(world, stranger)) ?? []) {
    const answer = await call(world, contract, { path, body }, { token: world.token });
    if (matrix.judgement === 'exact')
      t.ok([404, 422].includes(answer.status), `${name} with ${what}: ${answer.status}`);
    t.notOk(answer.text.includes('of the stranger'), `${name} with ${what} shows nothing`);
  }
}

/** A call that ends its own session is made with another one. */
function credentialsOf(actor: Actor, prepared: Prepared, wanted: number | 'success'): Credentials {
  const isOwn = wanted === 'success' && prepared.token !== undefined && actor.credentials.token !== undefined;
  return isOwn ? { token: prepared.token } : actor.credentials;
}

function call(
  world: World,
  contract: RouteContract,
  { path, body, headers }: Pick<Prepared, 'path' | 'body' | 'headers'>,
  credentials: Credentials,
): Promise<TestAnswer> {
  return world.call(contract.method, path, {
    ...credentials,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
}

function judge(
  t: Test,
  what: string,
  answer: TestAnswer,
  wanted: number | 'success',
  { contract, rule, matrix: { judgement } }: { contract: RouteContract; rule: Rule; matrix: Matrix },
): void {
  if (judgement === 'closed') {
    if (wanted === 'success' || answer.status >= 400) return;
    // A list of what is below something foreign may be empty.
    const lists = Object.values(answer.body).filter(Array.isArray);
    t.ok(
      lists.length > 0 && lists.every((list) => list.length === 0),
      `${what} is refused or empty: ${answer.text.slice(0, 300)}`,
    );
    return;
  }
  if (wanted === 'success' && rule.isTriedElsewhere === true) {
    // Some answer 401 to what is no proof; nobody with an account is refused for who they are.
    const isRefused = answer.status === 403 || (answer.status === 401 && answer.body['code'] === 'unauthenticated');
    t.notOk(isRefused, `${what} is let in: ${answer.status}`);
    return;
  }
  const status = wanted === 'success' ? contract.success.status : wanted;
  if (!t.equal(answer.status, status, what)) t.comment(answer.text.slice(0, 500));
  const fault = undocumented(contract.method, contract.path, answer);
  if (fault !== undefined) t.fail(fault);
}

function showsNothing(t: Test, what: string, answer: TestAnswer): void {
  t.notOk(new RegExp(`"${marker}[ -]`).test(answer.text), `${what} shows nothing of the workspace`);
}
