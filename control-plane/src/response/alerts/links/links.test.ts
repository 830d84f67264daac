import { createHash } from 'node:crypto';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { alertsApi } from '../rules/testing.ts';
import type { AlertsApi } from '../rules/testing.ts';
import { addNotification, addOccasion } from '../testing-occasions.ts';
import { makeAlertLinks } from './gateway.ts';

const hourMs = 3_600_000;

/** An incident, told to a target in a language, with the link of that message. */
async function told(api: AlertsApi, locale: 'en' | 'ru' = 'en', title = 'Shop is down') {
  const made = await api.call('POST', '/api/v1/incidents', {
    token: api.token,
    body: { workspace_id: api.workspaceId, title: 'Shop' },
  });
  const incidentId = Number(made.body['id']);
  const { id: alertId } = await api.alert();
  const place = { workspaceId: api.workspaceId, ownerId: api.owner.id, alertId };
  const occasionId = await addOccasion(api.database, { ...place, incidentId, title });
  const target = { locale, timezone: 'Europe/Berlin' };
  await addNotification(api.database, { ...place, occasionId, targetKey: 'reader', target });
  const [links] = await makeAlertLinks(api.database.worker, 'https://monitor.example/base', [
    { workspaceId: api.workspaceId, occasionId, targetKey: 'reader', isIncident: true, title },
  ]);
  const url = links?.acknowledge ?? '';
  return { incidentId, occasionId, url, path: new URL(url).pathname.replace('/base', '') };
}

const press = (api: AlertsApi, path: string, action: string) =>
  api.call('POST', path, {
    body: `action=${action}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

const snoozedUntil = (api: AlertsApi) =>
  api.database.worker.oneFirst(
    sql.type(z.object({ snoozed_until: z.number().nullable() }))`
      select snoozed_until from alert_told where target_key = 'reader'`,
  );

void t.test('a link opens a page that does nothing; its button acknowledges, once', async (t) => {
  const api = await alertsApi(t);
  const { incidentId, path, url } = await told(api);
  t.match(url, /^https:\/\/monitor\.example\/base\/alerts\/snooze\/[\w-]{43}$/);
  const page = await api.call('GET', path);
  t.equal(page.status, 200, page.text);
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.equal(page.headers.get('referrer-policy'), 'no-referrer');
  t.equal(page.headers.get('cache-control'), 'no-store');
  const style = /<style>([\s\S]*)<\/style>/.exec(page.text)?.[1] ?? '';
  const policy = page.headers.get('content-security-policy') ?? '';
  t.match(policy, `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  t.match(policy, "default-src 'none'");
  t.notMatch(page.text, '<script');
  t.match(page.text, 'value="acknowledge"');
  const status = async () =>
    (await api.call('GET', `/api/v1/incidents/${incidentId}`, { token: api.token })).body['status'];
  t.equal(await status(), 'open', 'who only looks changes nothing');
  const pressed = await Promise.all(Array.from({ length: 10 }, () => press(api, path, 'acknowledge')));
  t.ok(pressed.every((answer) => answer.status === 200 && !answer.text.includes('value="acknowledge"')));
  t.match(pressed[0]?.text, 'acknowledged');
  t.equal(await status(), 'acknowledged');
  const rows = await api.database.worker.any(
    sql.type(z.object({ actor: z.string() }))`select actor from audit_log where action = 'incident.acknowledged'`,
  );
  t.same(rows, [{ actor: 'system' }], 'one row for ten buttons');
});

void t.test('a snooze lets this target rest until the time that the page names', async (t) => {
  const api = await alertsApi(t);
  const { path, incidentId } = await told(api, 'ru', 'Сайт <b>"упал"</b> & \'лежит\'');
  const page = await api.call('GET', path);
  t.match(page.text, '<html lang="ru">');
  t.match(page.text, 'Сайт &lt;b&gt;&quot;упал&quot;&lt;/b&gt; &amp;');
  const before = Date.now();
  const pressed = await press(api, path, 'snooze_1h');
  t.match(pressed.text, 'ничего об этом не услышите');
  const until = await snoozedUntil(api);
  t.ok(until !== null && until >= before + hourMs - 1 && until <= Date.now() + hourMs + 1_000);
  await press(api, path, 'snooze_morning');
  t.ok(((await snoozedUntil(api)) ?? 0) > before);
  const incident = await api.call('GET', `/api/v1/incidents/${incidentId}`, { token: api.token });
  t.equal(incident.body['status'], 'open');
});

void t.test('a link ends seven days after what it is about, and what is no link is told alike', async (t) => {
  const api = await alertsApi(t);
  const { path, occasionId } = await told(api);
  const end = (days: number) =>
    api.database.worker.query(sql.unsafe`
      update alert_occasions set ended_at = now() - make_interval(days => ${days}), started_at = now() - interval '20 days' where id = ${occasionId}`);
  await end(6);
  const over = await press(api, path, 'acknowledge');
  t.equal(over.status, 200);
  t.match(over.text, 'It is over');
  t.notMatch(over.text, '<form');
  await end(8);
  const pageOfNone = (await api.call('GET', `/alerts/snooze/${'y'.repeat(43)}`)).text;
  for (const place of [path, `/alerts/snooze/${'x'.repeat(43)}`, '/alerts/snooze/x', '/alerts/snooze/%00']) {
    for (const answer of [await api.call('GET', place), await press(api, place, 'acknowledge')]) {
      if (answer.status === 422) continue;
      t.equal(answer.status, 404, place);
      t.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', place);
      t.equal(answer.text, pageOfNone, `${place} is answered as what never was`);
      t.match(answer.text, 'does not work any more', place);
    }
  }
  const russian = await api.call('GET', '/alerts/snooze/x', { headers: { 'accept-language': 'ru-RU,ru;q=0.9' } });
  t.match(russian.text, 'Ссылка больше не действует');
});

void t.test('what cannot be asked for changes nothing', async (t) => {
  const api = await alertsApi(t);
  const { path } = await told(api);
  for (const body of ['', 'action=delete', '{"action":"acknowledge"}']) {
    const answer = await api.call('POST', path, {
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    t.equal(answer.status, 200, body);
    t.match(answer.text, '<form', body);
  }
  t.equal(await snoozedUntil(api), null);
  const large = await api.call('POST', path, { body: 'x'.repeat(5_000), headers: { 'content-type': 'text/plain' } });
  t.equal(large.status, 413);
});
