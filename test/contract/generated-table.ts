import { allRoutes } from '../../control-plane/src/app.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { moreRecipes } from './access/more-recipes.ts';
import { documented } from './document.ts';
import type { Documented } from './document.ts';
import { recipes } from './recipes.ts';
import type { Prepared, Recipe } from './recipes.ts';
import { secondFactorRecipes } from './second-factor-recipes.ts';
import { contractOf, nameOf, rows, statusOf } from './table.ts';
import type { World } from './world.ts';

/** A call of an operation of the document, prepared in a world, and the status that it must answer. */
export type TableCall = {
  readonly one: Documented;
  readonly prepared: Prepared;
  readonly status: number;
  /** Whether the specification lists it. */
  readonly isListed: boolean;
};

/** Every operation of the document. All calls are prepared before the first is made. */
export async function tableOf(opened: World): Promise<readonly TableCall[]> {
  const world = { ...opened, keepsOthers: true };
  await addMember(world);
  const contracts = allRoutes(world.context).map((route) => route.contract);
  const listed = new Map(
    rows.flatMap((row) => {
      const contract = contractOf(row, contracts);
      return contract === undefined ? [] : [[contract, row] as const];
    }),
  );
  const calls: TableCall[] = [];
  for (const contract of contracts) {
    const name = `${contract.method} ${contract.path}`;
    const row = listed.get(contract);
    const recipe = secondFactorRecipes[name] ?? (row === undefined ? moreRecipes[name] : recipes[nameOf(row)]);
    const one = documented.find((each) => each.name === name.replaceAll(/:([a-z_]+)/g, '{$1}'));
    if (one === undefined) throw new Error(`${name} is not in the document`);
    if (recipe === undefined) throw new Error(`${name} has no recipe`);
    const status = row === undefined ? contract.success.status : statusOf(row, contract);
    calls.push({ one, prepared: await preparedBy(recipe, one, world), status, isListed: row !== undefined });
  }
  return calls;
}

/** An account has one configuration of a channel, and a workspace one address of its calendar. */
const needsOwnAccount = /\/alert-channel-configs|\/public\/maintenance/;

async function preparedBy(recipe: Recipe, one: Documented, world: World): Promise<Prepared> {
  const own = needsOwnAccount.test(one.name) ? await ofNewAccount(world) : world;
  return { ...(own === world ? {} : { token: own.token }), ...(await recipe(own)) };
}

/** Somebody who reads the workspace, to whom another one like it may be handed on. */
async function addMember(world: World): Promise<void> {
  const { id } = await world.account(`member${world.unique()}@example.com`);
  await world.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${world.workspaceId}, ${id}, 'viewer')`);
}

/** The same world as another account and its workspace see it. */
async function ofNewAccount(world: World): Promise<World> {
  const { accessToken: token } = await world.account(`table${world.unique()}@example.com`);
  const make: World['make'] = (method, path, body) =>
    world.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const { workspaces } = (await make('GET', '/api/v1/workspaces')).body as { workspaces: { id: number }[] };
  return { ...world, keepsOthers: true, token, make, workspaceId: workspaces[0]?.id ?? 0 };
}
