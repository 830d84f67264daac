import { allRoutes } from '../../control-plane/src/app.ts';
import { documented } from './document.ts';
import type { Documented } from './document.ts';
import { recipes } from './recipes.ts';
import type { Prepared } from './recipes.ts';
import { contractOf, nameOf, rows, statusOf } from './table.ts';
import type { World } from './world.ts';

/** A call of a row of the specification, prepared in a world, and the status that it must answer. */
export type TableCall = { readonly one: Documented; readonly prepared: Prepared; readonly status: number };

/** Every row of the specification that is built. All calls are prepared before the first is made. */
export async function tableOf(world: World): Promise<readonly TableCall[]> {
  const contracts = allRoutes(world.context).map((route) => route.contract);
  const calls: TableCall[] = [];
  for (const row of rows) {
    const contract = contractOf(row, contracts);
    const recipe = recipes[nameOf(row)];
    if (contract === undefined || recipe === undefined) continue;
    const name = `${contract.method} ${contract.path.replaceAll(/:([a-z_]+)/g, '{$1}')}`;
    const one = documented.find((each) => each.name === name);
    if (one === undefined) throw new Error(`${name} is not in the document`);
    // An account has one configuration of a channel.
    const own = name.includes('/alert-channel-configs') ? await ofNewAccount(world) : world;
    const prepared = { ...(own === world ? {} : { token: own.token }), ...(await recipe(own)) };
    calls.push({ one, prepared, status: statusOf(row, contract) });
  }
  return calls;
}

/** The same world as another account and its workspace see it. */
async function ofNewAccount(world: World): Promise<World> {
  const { accessToken: token } = await world.account(`table${world.unique()}@example.com`);
  const make: World['make'] = (method, path, body) =>
    world.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const { workspaces } = (await make('GET', '/api/v1/workspaces')).body as { workspaces: { id: number }[] };
  return { ...world, keepsOthers: true, token, make, workspaceId: workspaces[0]?.id ?? 0 };
}
