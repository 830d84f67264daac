import { roomChannels } from '@parallax/api-contract';
import { quietLog } from '@parallax/testkit';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { createOutboundClients } from '../../../platform/outbound-http/index.ts';
import { startStandIn } from '../../../response/channels/testing/stand-in.ts';
import { standIns } from '../../../response/channels/testing/stand-ins/all.ts';
import { startReceiver } from '../../../response/webhooks/testing.ts';
import { askDue, echoed } from './sending/challenge.job.ts';
import { tellNews } from './news/news.job.ts';
import { sendDueNotices } from './sending/sender.job.ts';
import { subscribersApi } from './testing.ts';

void t.test('subscribers by request', async (t) => {
  const api = await subscribersApi(t, { allowedPrivateHooks: ['127.0.0.1/32'] });
  const page = await api.page({ subscribe: ['email', 'webhook', 'mattermost'] });
  const active = sql.fragment`status_page_subscribers where state = 'active'`;
  const subscribe = (kind: string, url: string) =>
    api.form(`${page.slug}/subscribe`, [
      ['kind', kind],
      ['target', url],
    ]);
  const send = async () => {
    await tellNews(api.context, quietLog, null);
    await api.database.worker.query(sql.unsafe`update status_page_notices set tried_at = null`);
    await sendDueNotices(api.context, quietLog);
  };

  await t.test('a webhook confirms it by echoing a challenge, and what it is sent is signed', async (t) => {
    const receiver = await startReceiver(t);
    t.equal((await subscribe('webhook', receiver.url)).status, 200);
    await api.outage(page.monitors[0]);
    await askDue(api.context, quietLog);
    t.equal(receiver.received.length, 1);
    t.equal(await api.count(active), 0, 'that answers alone is no consent');
    receiver.answer = (_request, response) => {
      const { data } = JSON.parse(receiver.received.at(-1)?.body ?? '{}') as { data: { challenge: string } };
      response.end(JSON.stringify({ challenge: data.challenge }));
    };
    await askDue(api.context, quietLog);
    t.equal(receiver.received.length, 1, 'it is not asked again by itself');
    await api.pass(3_700);
    await subscribe('webhook', receiver.url);
    await askDue(api.context, quietLog);
    t.equal(await api.count(active), 1);
    const asked = JSON.parse(receiver.received.at(-1)?.body ?? '{}') as {
      type: string;
      data: { secret: string; manage_url: string };
    };
    t.equal(asked.type, 'status_page.challenge');
    receiver.answer = (_request, response) => void response.end('ok');
    await send();
    const incident = await api.outage(page.monitors[1], 'db-7.internal is full');
    await api.say(incident, 'We look at it.');
    await send();
    const told = receiver.received.at(-1);
    const verified = new Webhook(asked.data.secret).verify(told?.body ?? '', {
      'webhook-id': String(told?.headers['webhook-id']),
      'webhook-timestamp': String(told?.headers['webhook-timestamp']),
      'webhook-signature': String(told?.headers['webhook-signature']),
    });
    t.match(verified, {
      type: 'status_page.update',
      data: {
        page: { name: 'Shop', url: `https://parallax.example/status/${page.slug}` },
        updates: [
          { type: 'incident', title: null, component_names: ['Search'], status: 'investigating', body: null },
          { type: 'incident', status: 'identified', body: 'We look at it.' },
        ],
      },
    });
    t.notMatch(told?.body, 'internal');
    receiver.answer = (_request, response) => void response.writeHead(410).end();
    await api.outage(page.monitors[0]);
    await send();
    t.equal(await api.count(active), 0, 'gone for good');
  });

  await t.test('a room that takes nothing is tried for hours, and no longer', async (t) => {
    const receiver = await startReceiver(t);
    await subscribe('mattermost', receiver.url);
    await askDue(api.context, quietLog);
    await api.form(`${linkOf(receiver.received.at(-1)?.body)}?action=confirm`, []);
    t.equal(await api.count(active), 1);
    const before = receiver.received.length;
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    await api.outage(page.monitors[1]);
    for (const seconds of [0, 61, 301, 1_801, 7_201, 14_401]) {
      await api.pass(seconds);
      await send();
    }
    await api.pass(86_000);
    await send();
    t.equal(receiver.received.length - before, 6, 'six tries, and no more');
  });

  await t.test('addresses of the inside are not dialled', async (t) => {
    const receiver = await startReceiver(t);
    const outbound = createOutboundClients({
      allowedPrivateTargets: [],
      deniedListeners: () => [],
      now: Date.now,
      version: '0.0.0',
    });
    await api.database.worker.query(sql.unsafe`delete from status_page_subscribers`);
    for (const url of [
      receiver.url,
      'http://[::1]/',
      'http://169.254.169.254/latest/meta-data/',
      'http://localhost/',
    ]) {
      t.equal((await subscribe('webhook', url)).status, 200);
    }
    t.equal(await askDue({ ...api.context, outbound }, quietLog), 4);
    t.equal(receiver.received.length, 0);
    for (const url of [
      'ftp://example.com/',
      'http://user:word@example.com/',
      'javascript:alert(1)',
      'file:///etc/passwd',
    ]) {
      t.equal((await subscribe('webhook', url)).status, 422, url);
    }
  });
});

/** The path of the link that a room was sent, below `/status/`. */
function linkOf(text: string | undefined): string {
  const [, path] = /https:\/\/parallax\.example\/status\/([\w-]+\/subscription\/plsp_\w+)/.exec(text ?? '') ?? [];
  if (path === undefined) throw new Error(`there is no link in ${text}`);
  return path;
}

void t.test('rooms of every channel that needs no more than a webhook', async (t) => {
  const rooms = await Promise.all(
    roomChannels.map(async (kind) => {
      const standIn = standIns.find(({ channel }) => channel === kind);
      if (standIn === undefined) throw new Error(`${kind} has no stand-in`);
      const running = await startStandIn(t, standIn);
      const { destinations } = z
        .object({ destinations: z.array(z.object({ url: z.string() })) })
        .parse(standIn.settings(running.baseUrl));
      return { kind, running, url: destinations[0]?.url ?? '' };
    }),
  );
  const baseUrls = Object.fromEntries(rooms.map(({ kind, running }) => [kind, running.baseUrl]));
  const api = await subscribersApi(t, {
    allowedPrivateHooks: ['127.0.0.1/32'],
    channels: { baseUrls, hasMailServer: true, hasTeamChatApp: false },
  });
  const page = await api.page({ subscribe: roomChannels });
  const subscribe = (kind: string, target: string) =>
    api.form(`${page.slug}/subscribe`, [
      ['kind', kind],
      ['target', target],
    ]);
  t.equal((await subscribe('chat', 'https://discord.example/api/webhooks/1/x')).status, 422, 'Discord is elsewhere');
  for (const { kind, url } of rooms) t.equal((await subscribe(kind, url)).status, 200, kind);
  await askDue(api.context, quietLog);
  for (const { kind, running } of rooms) {
    const [asked] = running.seen;
    const path = linkOf(asked?.text.replaceAll('\\/', '/'));
    t.equal((await api.form(`${path}?action=confirm`, [])).status, 200, kind);
  }
  t.equal(await api.count(sql.fragment`status_page_subscribers where state = 'active'`), rooms.length);
  const incident = await api.outage(page.monitors[0], 'db-7.internal is full');
  await api.say(incident, '<!channel> **Bold** & <https://evil.example|here> @everyone\n\nA second paragraph.');
  await tellNews(api.context, quietLog, null);
  await sendDueNotices(api.context, quietLog);
  await sendDueNotices(api.context, quietLog);
  for (const { kind, running } of rooms) {
    t.same(running.problems, [], `${kind}: what is sent is what the service documents`);
    t.equal(running.seen.length, 2, `${kind}: asked and told, once each`);
    const told = running.seen.at(-1)?.text ?? '';
    t.match(told, /\[Shop\\*\] Checkout\\*: outage/, `${kind}: the public title`);
    t.match(told, /A second paragraph/, `${kind}: all that people wrote`);
    t.match(told, `/incidents/`, `${kind}: the page of the incident`);
    t.match(told, /subscription\/plsp_/, `${kind}: the link that ends it`);
    t.notMatch(told, 'internal', `${kind}: nothing of operators`);
    // What is a mention differs from service to service, and is a matter of the contract test of channels.
    if (kind === 'team-chat')
      t.notMatch(told, /<!channel>|<https:\/\/evil/, `${kind}: no mention and no link of others`);
  }
  const gone = rooms.find(({ kind }) => kind === 'chat');
  gone?.running.meet('unknown_target');
  await api.outage(page.monitors[1]);
  await tellNews(api.context, quietLog, null);
  await api.database.worker.query(sql.unsafe`update status_page_notices set tried_at = null`);
  await sendDueNotices(api.context, quietLog);
  t.equal(
    await api.count(sql.fragment`status_page_subscribers where kind = 'chat' and state = 'failed'`),
    1,
    'a webhook that is gone ends it',
  );
});

void t.test('only the word itself is an echo', async (t) => {
  t.ok(echoed({ text: ' word\n', json: undefined }, 'word'));
  t.ok(echoed({ text: '{"challenge":"word"}', json: { challenge: 'word' } }, 'word'));
  for (const json of [null, 'word', ['word'], { challenge: 'other' }, { challenge: 'word', type: 'x' }]) {
    t.notOk(echoed({ text: JSON.stringify(json), json }, 'word'), JSON.stringify(json));
  }
});
