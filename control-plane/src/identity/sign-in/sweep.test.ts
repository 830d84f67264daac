import { randomBytes } from 'node:crypto';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { testApi } from '../testing.ts';
import { beginChallenge } from './entry/queries.ts';
import { useProof } from './messenger/queries.ts';
import { beginProviderSignIn } from './providers/queries.ts';
import { sweepSignIns } from './queries.ts';

void t.test('what waits is kept while it may be answered, and removed afterwards', async (t) => {
  const api = await testApi(t);
  const { id: userId } = await api.account('ada@example.com');
  const { api: pool, worker } = api.database;
  const count = () =>
    worker.oneFirst(sql.type(z.object({ n: z.number() }))`
      select ((select count(*) from pending_sign_ins) + (select count(*) from sign_in_challenges)
              + (select count(*) from used_proofs))::integer as n`);
  await beginProviderSignIn(pool, { state: 's', browser: 'b', way: 'identity_provider_a' }, undefined, undefined);
  await beginChallenge(pool, 'second_factor', { userId, way: 'password' });
  t.equal(await useProof(pool, randomBytes(32)), true);
  await sweepSignIns(worker);
  t.equal(await count(), 3);
  for (const table of ['pending_sign_ins', 'sign_in_challenges', 'used_proofs']) {
    await worker.query(sql.unsafe`update ${sql.identifier([table])} set expires_at = now() - interval '1 second'`);
    await t.rejects(pool.any(sql.unsafe`select from ${sql.identifier([table])}`), `a request cannot read ${table}`);
  }
  await sweepSignIns(worker);
  t.equal(await count(), 0);
});
