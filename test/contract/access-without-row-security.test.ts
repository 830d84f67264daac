import { randomBytes } from 'node:crypto';
import pg from 'pg';
import t from 'tap';
import { openDatabase } from '../../control-plane/src/platform/database/pools.ts';
import { testDatabase } from '../../control-plane/src/platform/database/testing.ts';
import { caught } from '../harness/caught.ts';
import { openActors } from './access/actors.ts';
import { ruledRoutes, tryRoute } from './access/matrix.ts';
import { openWorld } from './world.ts';

/* The matrix with a login for requests that row-level security does not hold back: the application's own filter alone. */

const { urls } = await testDatabase(t);
const login = `bypass_${randomBytes(6).toString('hex')}`;
const owner = new pg.Pool({ connectionString: urls.owner, max: 1 });
await owner.query(`create role ${login} login bypassrls in role parallax_api`);
const database = await openDatabase({ ...urls, api: urls.api.replace('parallax_api', login) }, { api: 4, worker: 6 });
t.teardown(async () => {
  await database.close();
  await owner.query(`drop role ${login}`);
  await owner.end();
});

const administrator = { email: 'administrator@example.com', password: 'a rather long phrase 7' };
const world = await openWorld(t, { administrator: administrator.email, database });
const { actors, stranger } = await openActors(world, administrator);

await t.test("the application's own filter alone answers as the table of roles has it", async (t) => {
  const count = await owner.query(`select rolbypassrls from pg_roles where rolname = '${login}'`);
  t.same(count.rows, [{ rolbypassrls: true }], 'nothing holds the login back');
  for (const ruled of ruledRoutes(t, world)) {
    await t.test(ruled.name, async (t) => {
      await tryRoute(t, ruled, { world, actors, stranger, judgement: 'exact' });
      caught(t, t.passing(), `strangers without row-level security: ${ruled.name}`);
    });
  }
});
