import t from 'tap';
import { caught } from '../harness/caught.ts';
import { loadWithoutFilter } from './access/without-filter.ts';

/* The matrix with the application's own filter of workspaces replaced by one that lets all through: row-level security alone. */

const changed = loadWithoutFilter();
const { openActors } = await import('./access/actors.ts');
const { ruledRoutes, tryRoute } = await import('./access/matrix.ts');
const { openWorld } = await import('./world.ts');

const administrator = { email: 'administrator@example.com', password: 'a rather long phrase 7' };
const world = await openWorld(t, { administrator: administrator.email });
const { actors, stranger } = await openActors(world, administrator);

await t.test('row-level security alone keeps strangers out', async (t) => {
  t.same([...changed].sort(), ['caller.ts', 'scope.ts'], 'the filter was replaced');
  for (const ruled of ruledRoutes(t, world)) {
    await t.test(ruled.name, async (t) => {
      await tryRoute(t, ruled, { world, actors, stranger, judgement: 'closed' });
      caught(t, t.passing(), `strangers without the filter of workspaces: ${ruled.name}`);
    });
  }
});
