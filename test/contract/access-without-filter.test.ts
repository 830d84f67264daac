import t from 'tap';
import { z } from 'zod';
import { caught } from '../harness/caught.ts';
import { loadWithoutFilter } from './access/without-filter.ts';

/* The matrix with the application's own filter of workspaces replaced by one that lets all through: row-level security alone. */

const changed = loadWithoutFilter();
const { openActors } = await import('./access/actors.ts');
const { ruledRoutes, tryRoute } = await import('./access/matrix.ts');
const { openWorld } = await import('./world.ts');
const { keepRows, keptTables } = await import('../../control-plane/src/monitoring/lasting-facts/testing/kept-rows.ts');
const { inScope } = await import('../../control-plane/src/platform/database/scope.ts');
const { sql } = await import('../../control-plane/src/platform/database/pools.ts');

const administrator = { email: 'administrator@example.com', password: 'a rather long phrase 7' };
const world = await openWorld(t, { administrator: administrator.email });
const { actors, stranger } = await openActors(world, administrator);

await t.test(
  'what is kept of monitors shows itself to their tenant alone, also to a query that names no tenant',
  async (t) => {
    const monitorId = await world.monitor();
    await keepRows(world.database.worker, monitorId);
    const scopes = { ours: [world.workspaceId], theirs: [stranger.workspaceId], none: [] };
    for (const [table, use] of keptTables.filter(([, each]) => each !== 'nothing')) {
      const rows = sql.type(z.object({ n: z.number() }))`
      select count(*)::integer as n from ${sql.identifier([table])} where monitor_id = ${monitorId}`;
      const seen = (workspaceIds: readonly number[]) =>
        inScope(world.database.api, { userId: null, workspaceIds }, (tx) => tx.oneFirst(rows));
      t.ok((await seen(scopes.ours)) > 0, `${table}, which requests ${use}`);
      t.equal(await seen(scopes.theirs), 0, table);
      t.equal(await seen(scopes.none), 0, table);
    }
  },
);

await t.test('row-level security alone keeps strangers out', async (t) => {
  t.same([...changed].sort(), ['caller.ts', 'scope.ts'], 'the filter was replaced');
  for (const ruled of ruledRoutes(t, world)) {
    await t.test(ruled.name, async (t) => {
      await tryRoute(t, ruled, { world, actors, stranger, judgement: 'closed' });
      caught(t, t.passing(), `strangers without the filter of workspaces: ${ruled.name}`);
    });
  }
});
