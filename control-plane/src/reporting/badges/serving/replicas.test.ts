import { natsServer, quietLog } from '@parallax/testkit';
import t from 'tap';
import { connectBus } from '../../../platform/bus/nats-bus.ts';
import { badgesApi } from '../testing.ts';
import { endedKeys, preparedBadges } from './index.ts';

t.test('a key that has ended is forgotten by every replica', async (t) => {
  const nats = await natsServer(t);
  const connect = async (name: string) => {
    const bus = await connectBus({ servers: nats.url, name, log: quietLog });
    t.teardown(() => bus.close());
    return bus;
  };
  const api = await badgesApi(t, { bus: await connect('one') });
  const other = { ...api.context, bus: await connect('other') };
  const following = await endedKeys.start(other, quietLog);
  const shown = preparedBadges(other);
  const monitor = { type: 'monitor', id: (await api.monitor()).id } as const;
  const { id, key } = await api.badge(monitor);
  const asked = { path: `/badge/${key}/status.svg`, query: '', acceptLanguage: undefined };
  t.equal((await shown.fetch(asked)).status, 200);
  t.equal(shown.find(asked)?.status, 200, 'it is in memory');
  // Whoever listens is known to the broker before it hears.
  await other.bus.connection.flush();
  other.bus.hint('badges', { what: 'rubbish' });
  t.equal((await api.badges('POST', `/${id}/rotate`)).status, 200);
  for (const until = Date.now() + 30_000; shown.find(asked) !== undefined && Date.now() < until; ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  t.equal(shown.find(asked), undefined);
  t.equal((await shown.fetch(asked)).status, 404);
  await following.stop();
});
