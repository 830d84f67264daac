import t from 'tap';
import { openActors } from './access/actors.ts';
import { ruledRoutes, tryRoute } from './access/matrix.ts';
import { openWorld } from './world.ts';

/* Every route of the API against everybody, as the table of roles in `access/rules.ts` has it. */

const administrator = { email: 'administrator@example.com', password: 'a rather long phrase 7' };
const world = await openWorld(t, { administrator: administrator.email });
const { actors, stranger } = await openActors(world, administrator);

await t.test('every route answers each of them as the table of roles has it', async (t) => {
  for (const ruled of ruledRoutes(t, world)) {
    await t.test(ruled.name, async (t) => tryRoute(t, ruled, { world, actors, stranger, judgement: 'exact' }));
  }
});
