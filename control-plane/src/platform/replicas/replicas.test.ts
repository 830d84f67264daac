import { keptLog } from '@parallax/testkit';
import t from 'tap';
import { testDatabase } from '../database/testing.ts';
import { startReplicaRegister } from './job.ts';
import type { ReplicaListener } from './queries.ts';

const listener = (port: number): ReplicaListener => ({ address: '127.0.0.1', port });

t.test('each replica knows where the others listen, in one array until something changes', async (t) => {
  const { database } = await testDatabase(t);
  const { log, lines } = keptLog();
  const start = async (name: string, ownListeners: () => readonly ReplicaListener[]) => {
    const register = await startReplicaRegister({
      pool: database.worker,
      name,
      roles: ['api'],
      ownListeners,
      sourceAddresses: async () => [],
      log,
      everyMs: 3_600_000,
    });
    t.teardown(() => register.stop());
    return register;
  };
  let ofFirst = [listener(9_443), listener(8_080)];
  const first = await start('first', () => ofFirst);
  const alone = first.listeners();
  t.same(alone, [listener(8_080), listener(9_443)]);
  await first.look();
  t.equal(first.listeners(), alone, 'the very same array');

  const second = await start('second', () => [listener(8_080), listener(8_081)]);
  t.same(second.listeners(), [listener(8_080), listener(8_081), listener(9_443)], 'the second begins with all');
  await first.look();
  t.same(first.listeners(), second.listeners());

  ofFirst = [listener(8_080), listener(9_444)];
  t.ok(
    first.listeners().some(({ port }) => port === 9_444),
    'what is new here counts at once',
  );
  await first.look();
  await second.look();
  t.same(
    second.listeners().map(({ port }) => port),
    [8_080, 8_081, 9_444],
    'and is told',
  );

  await first.stop();
  await second.look();
  t.ok(
    second.listeners().some(({ port }) => port === 9_444),
    'a replica that stopped is remembered',
  );
  await database.raw.query(`update replicas set seen_at = now() - interval '11 minutes' where name = 'first'`);
  await second.look();
  t.same(
    second.listeners().map(({ port }) => port),
    [8_080, 8_081],
    'and forgotten after ten minutes',
  );
  await database.raw.query(`update replicas set seen_at = now() - interval '25 hours' where name = 'first'`);
  await second.look();
  t.same((await database.raw.query('select name from replicas')).rows, [{ name: 'second' }]);
  t.same(lines, []);
});
