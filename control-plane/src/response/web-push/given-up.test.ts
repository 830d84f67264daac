import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { accountsCapability } from '../../identity/accounts/index.ts';
import { authCapability } from '../../identity/auth/index.ts';
import { signInCapability } from '../../identity/sign-in/index.ts';
import { testApi } from '../../identity/testing.ts';
import { workspacesCapability } from '../../identity/workspaces/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { createOutboundClients } from '../../platform/outbound-http/index.ts';
import { deliver, takeUpBrowser } from '../channels/index.ts';
import { sampleMessage } from '../channels/testing/messages.ts';
import { createWebPushCapability, vapidKeys } from './index.ts';
import { pushService } from './testing/push-service.ts';
import type { TestBrowser } from './testing/push-service.ts';

/* What becomes of the target `all` of an account that has no browser, or has one again. */

async function world(t: TestContext) {
  const service = await pushService(t, 'http');
  const allowedPrivateTargets = ['127.0.0.0/8'];
  const outbound = createOutboundClients({
    allowedPrivateTargets,
    deniedListeners: () => [],
    now: Date.now,
    version: '0.0.0',
  });
  const webPush = createWebPushCapability({ onSubscribed: [takeUpBrowser] });
  const api = await testApi(t, {
    capabilities: [authCapability, accountsCapability, workspacesCapability, signInCapability, webPush],
    context: { allowedPrivateHooks: allowedPrivateTargets, outbound },
  });
  const account = await api.account('ada@example.com');
  const { publicKey } = await vapidKeys(api.context);
  return {
    service,
    browser: (name: string) => service.browser(publicKey, name),
    subscribe: async ({ endpoint, keys }: TestBrowser) => {
      const body = { endpoint, keys };
      const answer = await api.call('POST', '/api/v1/web-push/subscribe', { token: account.accessToken, body });
      if (answer.status > 201) throw new Error(answer.text);
      return String(answer.body['id']);
    },
    send: (target = 'all') => {
      const place = { ownerId: account.id, workspaceId: 1, channel: 'web-push', configId: null, target };
      return deliver(api.context, { ...place, message: sampleMessage() });
    },
    givenUp: () =>
      api.database.worker.anyFirst(sql.type(z.object({ target: z.string() }))`
        select target from channel_targets where user_id = ${account.id} and disabled_at is not null order by target`),
  };
}

void t.test('without a browser, `all` is given up, and taken up again with the first that is subscribed', async (t) => {
  const { service, browser, subscribe, send, givenUp } = await world(t);
  t.match(await send(), { ok: false, code: 'unknown_target', fault: 'target', message: /No browser is subscribed/ });
  t.same(await givenUp(), ['all']);
  t.match(await send(), { ok: false, message: /given up/ });
  const phone = browser('phone');
  const id = await subscribe(phone);
  t.same(await givenUp(), []);
  t.match(await send(), { ok: true });
  t.match(await send(id), { ok: true });
  t.equal(service.received.length, 2);
  phone.meet({ status: 410 });
  t.match(await send(id), { ok: false, fault: 'target' });
  t.match(await send(), { ok: false, fault: 'target' });
  t.same(await givenUp(), [id, 'all'].toSorted());
  phone.meet();
  t.not(await subscribe(phone), id, 'what was forgotten comes back under another number');
  t.same(await givenUp(), [id]);
  t.match(await send(), { ok: true });
});

void t.test('a browser that is subscribed while the last one turns out to be gone is not missed', async (t) => {
  const { browser, subscribe, send, givenUp } = await world(t);
  const [phone, desk] = [browser('phone'), browser('desk')];
  await subscribe(phone);
  phone.meet({ status: 410, after: () => subscribe(desk) });
  t.match(await send(), { ok: false, fault: 'target' });
  t.same(await givenUp(), []);
  t.match(await send(), { ok: true });
});
