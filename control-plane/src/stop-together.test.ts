import { EventEmitter } from 'node:events';
import { createShutdown } from '@parallax/telemetry';
import { keptLog } from '@parallax/testkit';
import t from 'tap';
import { stopTogether } from './stop-together.ts';

t.test('parts are stopped side by side, before what they stand on and after what stands on them', async (t) => {
  const { log } = keptLog();
  const shutdown = createShutdown({ log, signals: new EventEmitter() });
  const order: string[] = [];
  shutdown.onShutdown('database', () => order.push('database'));
  const parts = stopTogether(shutdown, log);
  const slow = Promise.withResolvers<void>();
  parts.onShutdown('slow', async () => {
    order.push('slow begins');
    await slow.promise;
    order.push('slow ends');
  });
  parts.onShutdown('quick', () => {
    order.push('quick');
    slow.resolve();
  });
  t.equal(await shutdown.stop('a test'), true);
  t.same(order, ['slow begins', 'quick', 'slow ends', 'database']);
});

t.test('a part that fails is named and keeps no other from stopping', async (t) => {
  const { log, lines } = keptLog();
  const shutdown = createShutdown({ log, signals: new EventEmitter() });
  const stopped: string[] = [];
  shutdown.onShutdown('database', () => stopped.push('database'));
  const parts = stopTogether(shutdown, log);
  parts.onShutdown('broken', () => Promise.reject(new Error('no')));
  parts.onShutdown('sound', () => stopped.push('sound'));
  t.equal(await shutdown.stop('a test'), false);
  t.same(stopped, ['sound', 'database']);
  t.match(JSON.stringify(lines), /not stopped well: broken/);
});

t.test('a part that came up after the stop began is stopped too, before what it stands on', async (t) => {
  const { log } = keptLog();
  const shutdown = createShutdown({ log, signals: new EventEmitter() });
  const stopped: string[] = [];
  shutdown.onShutdown('database', () => stopped.push('database'));
  const parts = stopTogether(shutdown, log);
  parts.onShutdown('early', () => {
    parts.onShutdown('late', () => stopped.push('late'));
  });
  await shutdown.stop('a test');
  t.same(stopped, ['late', 'database']);
});
