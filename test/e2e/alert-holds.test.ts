import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { mailServer } from '../../control-plane/src/platform/mail/testing/mail-server.ts';
import {
  callThat,
  historyOf,
  mailsFor,
  mailsTo,
  mailThat,
  newAlert,
  newPerson,
  openIncident,
  watch,
  webhookReceiver,
  webhookTarget,
} from '../harness/alerted.ts';
import type { Person } from '../harness/alerted.ts';
import { eventually } from '../harness/processes.ts';
import { loopbackTargetsForAll, startProduct } from '../harness/product.ts';
import { startTarget } from '../harness/target.ts';

type Maintenance = { readonly id: number; readonly status: string };

/** Long enough that whatever were to be told would have been. */
const silenceMs = 3_000;
const escalationSeconds = 15;

t.test('what holds messages back, and what is told after it', { timeout: 300_000 }, async (t) => {
  const mails = await mailServer(t);
  const hook = await webhookReceiver(t);
  const product = await startProduct({ PARALLAX_LOCAL_PROBES: '1', ...loopbackTargetsForAll, ...mailsTo(mails) });
  t.teardown(() => product.stop());
  const ada = await newPerson(product.baseUrl, mails, 'ada@example.com');
  // Whoever is sent more than five messages in a minute gets the next ones together, and nobody here is.
  const ben = await newPerson(product.baseUrl, mails, 'ben@example.com');
  /** Each story has its own monitor, whose target stays up after it: what is down for the second time within minutes flaps, and is not told of each time. */
  const watched = async (person: Person, name: string) => {
    const target = await startTarget();
    t.teardown(() => target.close());
    const { id } = await watch(person, name, target.url);
    return { id, target };
  };
  const subjects = (person: Person) => mailsFor(mails, person.email).map(({ parsed }) => parsed.subject ?? '');
  const incidentsOver = () =>
    eventually(
      'every incident to be over',
      async () => {
        const path = `/api/v1/incidents?workspace_id=${ada.workspaceId}`;
        const { incidents } = await ada.api.call<{ incidents: { status: string }[] }>('GET', path, 200);
        return incidents.length > 0 && incidents.every(({ status }) => status === 'resolved');
      },
      { timeoutMs: 60_000 },
    );

  /** A maintenance of the monitor that has begun. */
  const maintenance = async (name: string, monitorId: number): Promise<string> => {
    const { id } = await ada.api.call<Maintenance>('POST', '/api/v1/maintenance', 201, {
      workspace_id: ada.workspaceId,
      name,
      scope: { subjects: [{ type: 'monitor', id: monitorId }] },
      starts_at: new Date(Date.now() - 1_000).toISOString(),
      duration_seconds: 3_600,
    });
    const path = `/api/v1/maintenance/${id}`;
    await eventually(
      `${name} has begun`,
      async () => (await ada.api.call<Maintenance>('GET', path, 200)).status === 'active',
    );
    return path;
  };

  await t.test('an outage that outlasts a maintenance is told at its end', async (t) => {
    const { id: monitorId, target } = await watched(ada, 'Shop');
    const path = await maintenance('New rack', monitorId);
    await target.shut();
    await eventually('an incident that is held', async () => (await openIncident(ada)).is_held, { timeoutMs: 60_000 });
    await delay(silenceMs);
    t.same(subjects(ada).length, 1, 'nothing is told');
    const opened = async () => (await historyOf(ada)).filter(({ kind }) => kind === 'opened');
    t.match(await opened(), [{ status: 'held', reason: 'maintenance', channel: 'email' }], 'and the history says why');
    await ada.api.call('POST', `${path}/end`, 200);
    await mailThat(mails, ada.email, /Shop is down/, 1);
    await eventually('the history to have it as sent', async () =>
      (await opened()).every(({ status }) => status === 'sent'),
    );
    await target.reopen();
    await mailThat(mails, ada.email, /Shop is up again/, 2);
  });

  await t.test('one that a maintenance outlasts is part of its all-clear', async (t) => {
    const before = subjects(ada).length;
    const { id: monitorId, target } = await watched(ada, 'Blog');
    const path = await maintenance('New cables', monitorId);
    await target.shut();
    await eventually('an incident that is held', async () => (await openIncident(ada)).is_held, { timeoutMs: 60_000 });
    await target.reopen();
    await incidentsOver();
    await delay(silenceMs);
    t.equal(subjects(ada).length, before, 'nothing is told');
    await ada.api.call('POST', `${path}/end`, 200);
    const clear = await mailThat(mails, ada.email, /New cables/, before);
    t.match(clear.parsed.text, /Blog/);
    await delay(silenceMs);
    t.equal(subjects(ada).length, before + 1, subjects(ada).join(' | '));
  });

  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const ops = await webhookTarget(ben, hook, secret);
  const alertId = await newAlert(ben, {
    name: 'Escalation',
    events: ['monitor.down', 'incident.updated'],
    steps: [{ targets: [{ channel: 'email' }] }, { after_seconds: escalationSeconds, targets: [ops] }],
  });
  /** The page that the last mail about an outage leads to. */
  const linkOf = async (name: string, after: number): Promise<string> => {
    const mail = await mailThat(mails, ben.email, new RegExp(`${name} is down`), after);
    return /http\S+\/alerts\/snooze\/[\w-]+/.exec(mail.parsed.text ?? '')?.[0] ?? 'no link';
  };
  const press = (link: string, action: string) =>
    fetch(link, { method: 'POST', body: new URLSearchParams({ action }) });

  await t.test('what nobody acknowledges escalates; the reader of the mail snoozes it alone', async (t) => {
    const { target } = await watched(ben, 'Wiki');
    const before = subjects(ben).length;
    await target.shut();
    const link = await linkOf('Wiki', before);
    const { id } = await openIncident(ben);
    t.equal((await fetch(link)).status, 200);
    t.equal((await press(link, 'snooze_1h')).status, 200);
    const escalated = await callThat(hook, 'alert.escalated');
    t.match(escalated.body, { state: 'problem', subjects: [{ name: 'Wiki' }], data: { step: 1 } });
    await ben.api.call('POST', `/api/v1/incidents/${id}/updates`, 201, {
      kind: 'identified',
      body: 'The cable is cut.',
    });
    const updated = await callThat(hook, 'alert.updated');
    t.match(updated.body, { summary: 'The cable is cut.' });
    await delay(silenceMs);
    t.equal(subjects(ben).length, before + 1, 'the mail rests');
    await target.reopen();
    await callThat(hook, 'alert.resolved');
    await mailThat(mails, ben.email, /Wiki is up again/, before + 1);
  });

  await t.test('opening the link changes nothing, its button acknowledges, and nobody else is called', async (t) => {
    const { target } = await watched(ben, 'Forum');
    const before = { mails: subjects(ben).length, calls: hook.received.length };
    await target.shut();
    const link = await linkOf('Forum', before.mails);
    const { id } = await openIncident(ben);
    for (let times = 0; times < 3; times += 1) {
      const page = await fetch(link);
      t.equal(page.status, 200);
      t.match(await page.text(), /value="acknowledge"/);
    }
    t.equal((await fetch(link, { method: 'HEAD' })).ok, true, 'as scanners do');
    t.equal((await openIncident(ben)).status, 'open');
    const pressed = await press(link, 'acknowledge');
    t.equal(pressed.status, 200);
    t.notMatch(await pressed.text(), /value="acknowledge"/);
    t.match(await openIncident(ben), { id, status: 'acknowledged' });
    await delay(escalationSeconds * 1_000 + silenceMs);
    t.equal(hook.received.length, before.calls, 'nobody is called');
    await target.reopen();
    await mailThat(mails, ben.email, /Forum is up again/, before.mails + 1);
    await delay(silenceMs);
    t.equal(hook.received.length, before.calls, 'nor told of the end of what they did not hear of');
    const told = (await historyOf(ben)).filter(({ alert_id: of, status }) => of === alertId && status === 'sent');
    t.equal(told.filter(({ kind }) => kind === 'escalated').length, 1, 'that of the other outage');
    t.equal(
      (await press(link, 'snooze_1h')).status,
      200,
      'what is over cannot be snoozed, and nobody is told an error',
    );
  });
});
