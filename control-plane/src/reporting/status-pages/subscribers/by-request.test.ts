import { quietLog } from '@parallax/testkit';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { createOutboundClients } from '../../../platform/outbound-http/index.ts';
import { startReceiver } from '../../../response/webhooks/testing.ts';
import { askDue, echoed } from './sending/challenge.job.ts';
import { tellNews } from './news/news.job.ts';
import { sendDueNotices } from './sending/sender.job.ts';
import { subscribersApi } from './testing.ts';

void t.test('subscribers by request', async (t) => {
  const api = await subscribersApi(t, { allowedPrivateHooks: ['127.0.0.1/32'] });
  const page = await api.page({ subscribe: ['email', 'webhook', 'team-chat'] });
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

  await t.test('a room of the team chat is asked by a link', async (t) => {
    const receiver = await startReceiver(t);
    await subscribe('team-chat', receiver.url);
    await askDue(api.context, quietLog);
    const { text } = JSON.parse(receiver.received.at(-1)?.body ?? '{}') as { text: string };
    const [, link] = /<https:\/\/parallax\.example\/status\/([^|>]+)\|/.exec(text) ?? [];
    t.equal(await api.count(active), 0);
    await api.form(`${link}?action=confirm`, []);
    t.equal(await api.count(active), 1);
    const incident = await api.outage(page.monitors[0]);
    await api.say(incident, '<!channel> & <https://evil.example|here>');
    await send();
    const told = JSON.parse(receiver.received.at(-1)?.body ?? '{}') as { text: string };
    t.match(told.text, '*[Shop] Checkout: outage – Identified*');
    t.match(told.text, '&lt;!channel&gt; &amp; &lt;https://evil.example|here&gt;');
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

void t.test('only the word itself is an echo', async (t) => {
  t.ok(echoed({ text: ' word\n', json: undefined }, 'word'));
  t.ok(echoed({ text: '{"challenge":"word"}', json: { challenge: 'word' } }, 'word'));
  for (const json of [null, 'word', ['word'], { challenge: 'other' }, { challenge: 'word', type: 'x' }]) {
    t.notOk(echoed({ text: JSON.stringify(json), json }, 'word'), JSON.stringify(json));
  }
});
