import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { testApi } from '../../testing.ts';
import { takeMails } from '../testing.ts';
import { knownTimezone } from './timezones.ts';

const path = '/api/v1/auth/me';

t.test('a profile is changed field by field', async (t) => {
  const api = await testApi(t);
  const { accessToken: token } = await api.account('ada@example.com');
  const change = (body: unknown) => api.call('PATCH', path, { token, body });
  t.match(await change({ display_name: '  Ада Л. ', locale: 'ru' }), {
    status: 200,
    body: { display_name: 'Ада Л.', locale: 'ru', timezone: 'UTC', version: 2 },
  });
  t.match(await change({ timezone: 'Europe/Berlin' }), {
    body: { display_name: 'Ада Л.', locale: 'ru', timezone: 'Europe/Berlin', version: 3 },
  });
  t.match(await change({ display_name: null }), { body: { display_name: null, version: 4 } });
  t.match(await change({}), { status: 200, body: { version: 4 } }, 'nothing is no change');
  t.match(await change({ display_name: 'e\u0301' }), { body: { display_name: '\u00e9' } }, 'composed');
  const stale = await api.call('PATCH', path, { token, body: { locale: 'en' }, headers: { 'if-match': '"3"' } });
  t.match(stale, { status: 412, body: { code: 'version_mismatch' } });
  const refused: [body: unknown, pointer: string][] = [
    [{ display_name: '' }, '/display_name'],
    [{ display_name: '   ' }, '/display_name'],
    [{ display_name: 'a'.repeat(81) }, '/display_name'],
    [{ display_name: 'a\u0007b' }, '/display_name'],
    [{ display_name: 7 }, '/display_name'],
    [{ locale: 'de' }, '/locale'],
    [{ locale: null }, '/locale'],
    [{ timezone: 'Mars/Phobos' }, '/timezone'],
    [{ timezone: null }, '/timezone'],
  ];
  for (const [body, pointer] of refused) {
    t.match(await change(body), { status: 422, body: { errors: [{ in: 'body', path: pointer }] } });
  }
});

t.test('the language decides that of the mails', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  await takeMails(api);
  const set = (locale: unknown) => api.call('PATCH', `${path}/locale`, { token: ada.accessToken, body: { locale } });
  t.match(await set('ru'), { status: 200, body: { message: 'the language is ru' } });
  t.equal((await set('xx')).status, 422);
  await api.call('POST', '/api/v1/auth/forgot-password', { body: { email: ada.email } });
  t.match(await takeMails(api), [{ subject: 'Новый пароль', html: /<html lang="ru">/ }]);
});

t.test('time zones are IANA names that the database and Intl both know', async (t) => {
  const api = await testApi(t);
  const { accessToken: token } = await api.account('ada@example.com');
  const set = (timezone: unknown) => api.call('PATCH', `${path}/timezone`, { token, body: { timezone } });
  for (const [given, kept] of [
    ['Europe/Berlin', 'Europe/Berlin'],
    ['asia/kolkata', 'Asia/Kolkata'],
    ['UTC', 'UTC'],
    ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ]) {
    t.match(await set(given), { status: 200, body: { message: `the time zone is ${kept}` } });
    t.match((await api.call('GET', path, { token })).body, { timezone: kept });
  }
  const refused = [
    'Mars/Phobos',
    '+01:00',
    'UTC+1',
    'posix/Europe/Berlin',
    'posixrules',
    '<+03>-3',
    '../../etc/passwd',
    'Europe/Berlin\u0000',
    "Europe/Berlin'; drop table users --",
    '',
    'x'.repeat(101),
    7,
    null,
  ];
  for (const given of refused) t.equal((await set(given)).status, 422, JSON.stringify(given));
  t.equal(knownTimezone('Nowhere/Here', new Map([['nowhere/here', 'Nowhere/Here']])), undefined, 'Intl has a say too');
});

t.test('anybody may know number and name of a user, and nothing else', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const profile = (id: unknown) => api.call('GET', `/api/v1/users/${String(id)}`);
  t.same((await profile(ada.id)).body, { id: ada.id, display_name: `User ${ada.id}` });
  await api.call('PATCH', path, { token: ada.accessToken, body: { display_name: 'Ada' } });
  t.same((await profile(ada.id)).body, { id: ada.id, display_name: 'Ada' });
  t.match(await profile(99), { status: 404, body: { code: 'not_found' } });
  t.equal((await profile('0')).status, 422);
  await api.database.worker.query(sql.unsafe`
    update users set deleted_at = now(), email = null, password_hash = null, display_name = null`);
  t.equal((await profile(ada.id)).status, 404);
});
