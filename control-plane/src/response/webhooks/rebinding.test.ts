import { createServer } from 'node:net';
import { createResolver } from '@parallax/checks';
import t from 'tap';
import type { Test } from 'tap';
import { z } from 'zod';
import { answerInTurns } from '../../../../packages/checks/src/testing/name-server.ts';
import { only, sendingWorld, storeEvents } from './testing.ts';

const attempts = z.array(z.object({ error_code: z.string().nullable(), error: z.string().nullable() }));

/** A sender that asks a name server whose answers the test chooses, one list after another. */
async function rebindingWorld(t: Test, turns: readonly (readonly string[])[]) {
  const names = await answerInTurns(() => turns);
  t.teardown(() => names.stop());
  const resolver = createResolver({ servers: [names.server], hostsPath: null, hasIpv4: true });
  const world = await sendingWorld(t, resolver);
  const port = Number(new URL(world.receiver.url).port);
  const hook = await world.api.webhook({ url: `http://hooks.rebind.test:${port}/hook` });
  const send = async () => {
    await storeEvents(world.api.database.worker, world.api.workspaceId, [{}]);
    await world.run();
    return only(world.api, hook.id);
  };
  return { ...world, names, port, send };
}

const rebound: Readonly<Record<string, readonly string[]>> = {
  'the metadata service': ['169.254.169.254'],
  'the same as IPv6': ['::ffff:169.254.169.254'],
  'an alias of it': ['metadata.rebind.test', '169.254.169.254'],
  'an alias of an alias, as IPv6': ['a.rebind.test', 'b.rebind.test', '::ffff:169.254.169.254'],
  'a private network': ['10.0.0.1'],
  'another address of this machine': ['127.0.0.2'],
};

for (const [what, answer] of Object.entries(rebound)) {
  void t.test(`a name that was allowed and then leads to ${what} is not sent to`, async (t) => {
    const { receiver, send, names, port } = await rebindingWorld(t, [['127.0.0.1'], answer]);
    let reached = 0;
    // It would take whatever came to the last of them.
    const other = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.2', resolve));
    t.teardown(() => other.close());
    // Without this the next would go over the connection that was made to the address that was judged.
    receiver.answer = (_request, response) => void response.setHeader('connection', 'close').end();
    t.match(await send(), { state: 'delivered', status_code: 200 });
    const asked = names.asked();
    const denied = await send();
    t.ok(names.asked() > asked, 'the name was asked for again');
    t.match(denied, { state: 'queued', status_code: null, error_code: 'address_denied', attempts: 1 });
    const [attempt] = attempts.parse(denied['attempt_list']);
    t.match(attempt?.error, /^hooks\.rebind\.test may not be reached: .+\.$/);
    t.equal(receiver.received.length, 1);
    t.equal(reached, 0);
  });
}

void t.test('of an answer with both, the allowed address alone is dialled', async (t) => {
  const { receiver, send } = await rebindingWorld(t, [['169.254.169.254', '127.0.0.1', '10.0.0.1']]);
  t.match(await send(), { state: 'delivered' });
  t.equal(receiver.received.length, 1);
});

void t.test('a kept connection goes where it was judged to lead, and is asked for no name', async (t) => {
  const { receiver, send, names } = await rebindingWorld(t, [['127.0.0.1'], ['169.254.169.254']]);
  const ports = new Set<number | undefined>();
  receiver.answer = (request, response) => {
    ports.add(request.socket.remotePort);
    response.end();
  };
  t.match(await send(), { state: 'delivered' });
  const asked = names.asked();
  t.match(await send(), { state: 'delivered' });
  t.equal(names.asked(), asked);
  t.equal(ports.size, 1, 'both came over one connection');
});

void t.test('addresses in the place of a name that lead to the machine reach nothing', async (t) => {
  const { api, run } = await sendingWorld(t);
  for (const url of [
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:169.254.169.254]/',
    'http://10.0.0.1/',
  ]) {
    const { id } = await api.webhook({ url });
    await storeEvents(api.database.worker, api.workspaceId, [{}]);
    await run();
    t.match(await only(api, id), { state: 'queued', error_code: 'address_denied' }, url);
    await api.webhooks('DELETE', `/${id}`);
  }
});
