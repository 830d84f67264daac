import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import type { Test } from 'tap';
import { mailServer } from '../../control-plane/src/platform/mail/testing/mail-server.ts';
import {
  callThat,
  historyOf,
  isSigned,
  mailsFor,
  mailsTo,
  mailThat,
  newAlert,
  newPerson,
  watch,
  webhookReceiver,
  webhookTarget,
} from '../harness/alerted.ts';
import type { Person, WebhookReceiver } from '../harness/alerted.ts';
import { eventually } from '../harness/processes.ts';
import { loopbackTargetsForAll, startProduct, untilOnline } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

/** What two seconds for the first message may become on a machine that does other things as well. */
const firstSendWithinMs = 15_000;

/** What another system is sent of the outage of the blog, and may read instead. */
async function isSentEvents(
  t: Test,
  given: {
    readonly ada: Person;
    readonly webhookId: number;
    readonly secret: string;
    readonly place: string;
    readonly receiver: WebhookReceiver;
  },
): Promise<void> {
  const { ada, receiver } = given;
  const types = () => receiver.received.map(({ body }) => String(body['type'])).toSorted();
  const expected = ['incident.opened', 'incident.resolved', 'monitor.down', 'monitor.up', 'monitor.up'];
  await eventually(`the events to arrive`, async () => types().length >= expected.length);
  t.same(types(), expected, 'the first checks, the outage, and its end');
  const verifier = new Webhook(given.secret);
  for (const { text, headers } of receiver.received) {
    t.same(
      verifier.verify(text, headers as Record<string, string>),
      JSON.parse(text),
      'a library of the standard agrees',
    );
  }
  const { events } = await ada.api.call<{ events: { id: string; type: string }[] }>(
    'GET',
    `/api/v1/events?after=${given.place}&workspace_id=${ada.workspaceId}&types=monitor.*,incident.*`,
    200,
  );
  t.same(
    events.map(({ id }) => id).toSorted(),
    receiver.received.map(({ headers }) => String(headers['webhook-id'])).toSorted(),
    'who cannot be called reads the same events',
  );
  await eventually('the deliveries to be noted', async () => {
    const { deliveries } = await ada.api.call<{ deliveries: { state: string; attempts: number }[] }>(
      'GET',
      `/api/v1/webhooks/${given.webhookId}/deliveries`,
      200,
    );
    return deliveries.length === expected.length && deliveries.every(({ state }) => state === 'delivered');
  });
}

t.test('from a failure to the people, without set-up', { timeout: 300_000 }, async (t) => {
  const mails = await mailServer(t);
  const hook = await webhookReceiver(t);
  const target = await startTarget();
  // What is down for the second time within minutes flaps, and is not told of each time.
  const blog = await startTarget();
  t.teardown(() => Promise.all([target.close(), blog.close()]));
  const product = await startProduct({ PARALLAX_LOCAL_PROBES: '1', ...loopbackTargetsForAll, ...mailsTo(mails) });
  t.teardown(() => product.stop());

  const ada = await newPerson(product.baseUrl, mails, 'ada@example.com');
  const kenji = await newPerson(product.baseUrl, mails, 'kenji@example.com');
  await kenji.api.call('PATCH', '/api/v1/auth/me/locale', 200, { locale: 'ru' });
  await kenji.api.call('PATCH', '/api/v1/auth/me/timezone', 200, { timezone: 'Asia/Tokyo' });
  // Until a probe is there, the control plane checks and says so.
  await untilOnline(ada.api, 1);
  await Promise.all([watch(ada, 'Shop', target.url), watch(kenji, 'Магазин', target.url)]);
  const letters = { ada: mailsFor(mails, ada.email).length, kenji: mailsFor(mails, kenji.email).length };
  t.same(letters, { ada: 1, kenji: 1 }, 'so far only the mails that confirm an address');

  let diedMs = 0;
  let cameBackMs = 0;
  await t.test('the target dies, and comes back: one mail each', async (t) => {
    diedMs = Date.now();
    await target.shut();
    const down = await mailThat(mails, ada.email, /Shop is down/, 1);
    const { port } = new URL(target.url);
    t.match(down.parsed, { subject: 'Shop is down', from: { address: 'noreply@parallax.test' } });
    const text = down.parsed.text ?? '';
    t.match(text, /Connection refused\. Seen from local-1 \(1 of 1 probe\)\./, 'why, and from where');
    t.match(text, new RegExp(`Reason: \\S+:${port} refused the connection`), 'why in full');
    t.match(text, /Since: \d\d:\d\d UTC \(/, 'since when, in the zone of the reader');
    t.match(text, /Next check: \d\d:\d\d UTC/, 'when it is looked at again');
    t.match(text, new RegExp(`Open the incident: ${product.baseUrl}/incidents/\\d+`));
    t.match(down.parsed.html, /Shop is down/);
    t.notMatch(text, /test|undefined|null|NaN/);
    await mailThat(mails, kenji.email, /Магазин/, 1);
    cameBackMs = Date.now();
    await target.reopen();
    const up = await mailThat(mails, ada.email, /up again/, 2);
    t.match(up.parsed.subject, 'Shop is up again');
    t.match(up.parsed.text, /It lasted for \d+ seconds?\.[^]*Began: \d\d:\d\d UTC\nEnded: \d\d:\d\d UTC\nLasted: /);
    await mailThat(mails, kenji.email, /Магазин.* снова/, 2);
    t.equal(mailsFor(mails, ada.email).length, 3);
  });

  await t.test('a reader of Russian in Tokyo reads Russian, in the time of Tokyo', async (t) => {
    const [, down, up] = mailsFor(mails, kenji.email).map(({ parsed }) => parsed);
    t.equal(down?.subject, 'Магазин не работает');
    t.equal(up?.subject, 'Магазин снова работает');
    const [from, to] = [diedMs, cameBackMs].map((ms) => clockIn('Asia/Tokyo', ms));
    const told = /^Начало: (\d\d:\d\d)/m.exec(up?.text ?? '')?.[1] ?? 'no time';
    t.ok(told >= (from ?? '') || (from ?? '') > (to ?? ''), `${told} is between ${from} and ${to}`);
    t.match(up?.text, /^Начало: \d\d:\d\d GMT\+9/m, 'it says which zone it is');
    // What the check itself said, and names, are as they are; the rest is Russian.
    const rest = (down?.text ?? '').replaceAll(
      /https?:\S+|local-1|local|Default|\S+ refused the connection|Parallax|UTC|GMT|JST/g,
      '',
    );
    t.notMatch(rest, /[A-Za-z]{3,}/);
    const link = /http\S+\/alerts\/snooze\/\S+/.exec(down?.text ?? '')?.[0] ?? '';
    const page = await (await fetch(link)).text();
    t.match(page, /<html lang="ru">/);
    t.match(page, /<h1>Магазин не работает<\/h1>/);
    t.notMatch(page, /is down/);
  });

  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await t.test('a webhook is told of DOWN and UP, signed', async (t) => {
    const ops = await webhookTarget(ada, hook, secret);
    await newAlert(ada, { name: 'Operations', steps: [{ targets: [ops] }] });
    const other = await webhookReceiver(t);
    const { next: place } = await ada.api.call<{ next: string }>('GET', '/api/v1/events', 200);
    const { id: webhookId, secret: ownSecret } = await ada.api.call<{ id: number; secret: string }>(
      'POST',
      '/api/v1/webhooks',
      201,
      { workspace_id: ada.workspaceId, name: 'Data', url: other.url, events: ['monitor.*', 'incident.*'] },
    );
    await watch(ada, 'Blog', blog.url);
    await blog.shut();
    const opened = await callThat(hook, 'alert.opened');
    await blog.reopen();
    const resolved = await callThat(hook, 'alert.resolved');
    for (const call of [opened, resolved]) {
      t.ok(isSigned(call, secret), 'signed');
      t.notOk(isSigned({ ...call, text: `${call.text} ` }, secret), 'and only what was sent');
      t.equal(call.headers['webhook-id'], call.body['id']);
      t.match(call.body, { subjects: [{ type: 'monitor', name: 'Blog' }], data: { event: 'monitor.down' } });
    }
    t.match(opened.body, { state: 'problem', title: 'Blog is down', data: { votes: [{ code: 'connect_refused' }] } });
    t.match(resolved.body, { state: 'recovered', subject_key: opened.body['subject_key'] });
    await isSentEvents(t, { ada, webhookId, secret: ownSecret, place, receiver: other });
    await eventually('the history to say that all was sent', async () =>
      (await historyOf(ada)).every(({ status }) => status === 'sent'),
    );
    t.same((await historyOf(ada)).map(({ channel, kind }) => `${channel} ${kind}`).toSorted(), [
      'email opened',
      'email opened',
      'email resolved',
      'email resolved',
      'webhook opened',
      'webhook resolved',
    ]);
  });

  await t.test('a job that says that it failed is told of at once', async (t) => {
    const { id, ping_url_by_uuid: url } = await ada.api.call<{ id: number; ping_url_by_uuid: string }>(
      'POST',
      `/api/v1/heartbeats?workspace_id=${ada.workspaceId}`,
      201,
      { name: 'Nightly backup' },
    );
    const before = hook.received.length;
    t.equal((await fetch(url)).status, 200);
    const answer = await fetch(`${url}/fail`, { method: 'POST', body: 'disk /dev/sdb1 is full' });
    const answeredMs = Date.now();
    t.equal(answer.status, 200);
    const failed = await callThat(hook, 'alert.opened', before);
    const tookMs = failed.atMs - answeredMs;
    t.ok(tookMs < firstSendWithinMs, `first sent ${tookMs} ms after the ping was answered`);
    t.comment(`first sent ${tookMs} ms after the ping was answered`);
    t.match(failed.body, { title: /Nightly backup/, subjects: [{ type: 'heartbeat', id }] });
    t.match(failed.text, 'disk /dev/sdb1 is full', 'what the job said');
    const mail = await mailThat(mails, ada.email, /Nightly backup/);
    t.match(mail.parsed.text, 'disk /dev/sdb1 is full');
    t.equal((await fetch(url)).status, 200);
    await callThat(hook, 'alert.resolved', before);
  });

  await t.test('nobody was told anything twice', async (t) => {
    // The sixth message to an address within a minute waits for company.
    await eventually('a mail for each', async () => mailsFor(mails, ada.email).length >= 7, { timeoutMs: 120_000 });
    // Longer than it takes to decide and send.
    await delay(2_000);
    const subjects = mailsFor(mails, ada.email).map(({ parsed }) => parsed.subject);
    t.equal(subjects.length, 7, subjects.join(' | '));
    t.equal(new Set(subjects).size, 7);
    t.equal(mailsFor(mails, kenji.email).length, 3);
    t.equal(hook.received.length, 4);
  });
});

const clockIn = (timeZone: string, ms: number): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(ms);
