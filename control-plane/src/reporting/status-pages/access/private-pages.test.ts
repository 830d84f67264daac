import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import type { TestAnswer, TestCall } from '../../../identity/testing.ts';
import { limitsWith } from '../../../identity/plans/index.ts';
import { sql } from '../../../platform/database/pools.ts';
import { mailConsumer, sendDue } from '../../../platform/mail/job.ts';
import { smtpMailer } from '../../../platform/mail/mailer.ts';
import { smtpOptions } from '../../../platform/mail/smtp-options.ts';
import { mailServer } from '../../../platform/mail/testing/mail-server.ts';
import { workOnce } from '../../../platform/outbox/worker.ts';
import { loopBus } from '../../../testing/loop-bus.ts';
import { endedKeys } from '../../badges/serving/index.ts';
import { badgesApi } from '../../badges/testing.ts';
import { keptPages, statusPagesCapability } from '../index.ts';
import { linkMailConsumer } from './link-mails.consumer.ts';
import { basic, clientWith } from './testing.ts';

const password = 'correct horse';

t.test('private pages', async (t) => {
  const mails = await mailServer(t);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${mails.port}`), {
    name: 'Parallax',
    address: 'noreply@parallax.example',
  });
  const dataDir = t.testdir();
  const api = await badgesApi(t, { bus: loopBus(), mailer, dataDir, limits: limitsWith() });
  for (const service of [...(statusPagesCapability.services ?? []), endedKeys]) {
    const running = await service.start(api.context, quietLog);
    t.teardown(() => running.stop());
  }
  const { id: monitorId } = await api.monitor({ name: 'Secret monitor' });
  const items = [{ type: 'monitor', id: monitorId, show_response_times: true }];
  const componentOf = async (id: number) =>
    api.database.worker.oneFirst(
      sql.type(
        z.object({ component_id: z.string() }),
      )`select component_id from status_page_items where page_id = ${id}`,
    );
  const set = async (id: number, body: Record<string, unknown>): Promise<TestAnswer> => {
    const answer = await api.call('PUT', `/api/v1/status-pages/${id}`, { token: api.token, body });
    if (answer.status !== 200) throw new Error(`PUT: ${answer.status} ${answer.text}`);
    return answer;
  };
  const get = (at: string, headers: Record<string, string> = {}, more: TestCall = {}) =>
    api.call('GET', at, { headers, ...more });
  const post = (at: string, form: Record<string, string>, more: TestCall = {}) =>
    api.call('POST', at, {
      ...more,
      body: new URLSearchParams(form).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...more.headers },
    });
  const cookieOf = (answer: TestAnswer) => answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  /** Sends what waits. @returns the mails that the server took by it */
  const send = async () => {
    const before = mails.taken.length;
    while ((await workOnce({ ...api.context, database: api.database }, [linkMailConsumer, mailConsumer])) > 0);
    while ((await sendDue(api.context, quietLog)) > 0);
    return mails.taken.slice(before);
  };

  await t.test('a password is never answered, and one is as good as kept', async (t) => {
    const id = await api.page({ name: 'Answers', password, allowed_addresses: ['192.0.2.77/24', '2001:DB8::1'] });
    const read = await api.call('GET', `/api/v1/status-pages/${id}`, { token: api.token });
    t.match(read.body, {
      has_password: true,
      allowed_mail_domains: [],
      allowed_addresses: ['192.0.2.0/24', '2001:db8::1/128'],
    });
    t.notMatch(read.text, /correct|argon2|password_hash/);
    const stored = () =>
      api.database.worker.one(
        sql.type(z.object({ password_hash: z.string().nullable(), access_version: z.number() }))`
          select password_hash, access_version from status_pages where id = ${id}`,
      );
    t.match(await stored(), { password_hash: /^\$argon2id\$/, access_version: 1 });
    const { version: _version, updated_at: _updated, ...rest } = read.body;
    t.equal((await set(id, rest)).body['version'], 1, 'an answer that is sent back changes nothing');
    t.equal((await set(id, { name: 'Other', allowed_addresses: ['192.0.2.1/24', '2001:db8::1'] })).status, 200);
    t.equal((await stored()).access_version, 1, 'what does not say who may read it ends nothing');
    t.equal((await set(id, { password })).body['has_password'], true);
    t.equal((await stored()).access_version, 2, 'also the same password is another one');
    t.match((await set(id, { password: null })).body, { has_password: false });
    t.match(await stored(), { password_hash: null, access_version: 3 });
    t.match((await set(id, { allowed_addresses: null, allowed_mail_domains: ['Shop.Example', 'shop.example'] })).body, {
      allowed_addresses: [],
      allowed_mail_domains: ['shop.example'],
    });
    const audit = await api.database.worker.anyFirst(sql.type(z.object({ detail: z.unknown() }))`
      select detail from audit_log where action = 'status_page.updated' and subject_id = ${id} order by id`);
    t.same(audit.slice(1, 3), [{ fields: ['password'] }, { fields: ['password'] }]);
    for (const [field, values] of [
      ['password', ['short', 'x'.repeat(201), 'with\nline break', 8]],
      [
        'allowed_mail_domains',
        [
          ['@shop.example'],
          ['example'],
          ['*.shop.example'],
          ['a b.example'],
          Array(21)
            .fill('a.example')
            .map((each, index) => `${index}${each}`),
        ],
      ],
      [
        'allowed_addresses',
        [
          ['0.0.0.0/0'],
          ['::/0'],
          ['192.0.2.0/33'],
          ['10.1/8'],
          ['0x7f.0.0.1'],
          ['shop.example'],
          ['fe80::1%eth0'],
          Array.from({ length: 51 }, (_, index) => `192.0.2.${index}`),
        ],
      ],
    ] as const) {
      for (const value of values) {
        const answer = await api.call('PUT', `/api/v1/status-pages/${id}`, {
          token: api.token,
          body: { [field]: value },
        });
        t.equal(answer.status, 422, `${field} ${JSON.stringify(value).slice(0, 60)}`);
        t.match(answer.body, { errors: [{ path: new RegExp(`^/${field}`) }] });
      }
    }
  });

  await t.test('every address of a private page asks for the password, and only there is it right', async (t) => {
    const id = await api.page({
      name: 'Closed',
      slug: 'closed',
      items,
      password,
      embed_origins: ['https://shop.example'],
    });
    const component = await componentOf(id);
    const paths = [
      ...['', '/history', '/incidents/aaaaaaaaaaaa', '/unlock/plsl_x/y'].map((at) => `/status/closed${at}`),
      ...['/feed.rss', '/feed.atom', '/feed.json', '/calendar.ics', '/embed', '/embed.js'].map(
        (at) => `/status/closed${at}`,
      ),
      ...[`/components/${component}/feed.rss`, `/components/${component}/feed.atom`, `/charts/${component}.svg`].map(
        (at) => `/status/closed${at}`,
      ),
      ...[
        'summary',
        'status',
        'components',
        'incidents',
        'incidents/unresolved',
        'scheduled-maintenances',
        'scheduled-maintenances/upcoming',
        'scheduled-maintenances/active',
      ].map((name) => `/status/closed/api/v2/${name}.json`),
      '/api/v1/public/status/closed',
    ];
    for (const at of paths) {
      for (const round of ['when it is read first', 'from memory']) {
        const answer = await get(at, { origin: 'https://evil.example' });
        t.equal(answer.status, at.endsWith('/y') ? 404 : 401, `${at} ${round}`);
        t.notMatch(answer.text, /Secret|Closed/, at);
        if (answer.status === 404) continue;
        t.equal(answer.headers.get('cache-control'), 'no-store', at);
        t.equal(answer.headers.get('access-control-allow-origin'), null, at);
        t.ok(answer.headers.get('www-authenticate'), at);
        if (answer.headers.get('content-type')?.includes('json') === true)
          t.match(answer.body, { code: 'password_required' });
        else t.match(answer.text, '<form method="post" action="/status/closed/unlock">');
      }
      t.equal((await api.call('HEAD', at)).status, at.endsWith('/y') ? 404 : 401, `HEAD ${at}`);
    }
    for (const at of paths.filter((each) => !each.endsWith('/y'))) {
      for (const headers of [{ 'x-status-password': password }, { authorization: basic(password) }]) {
        const answer = await get(at, headers);
        t.ok([200, 404].includes(answer.status), `${at} ${answer.status}`);
        t.equal(answer.headers.get('cache-control'), 'no-store', at);
        t.equal(answer.headers.get('access-control-allow-origin'), null, at);
        t.match(answer.headers.get('cross-origin-resource-policy'), 'same-origin', at);
      }
    }
    t.match((await get('/status/closed', { 'x-status-password': password })).text, 'Secret monitor');
    t.match((await get('/api/v1/public/status/closed', { 'x-status-password': password })).body, {
      page: { name: 'Closed' },
    });
    t.match((await get('/api/v1/public/status/closed')).headers.get('www-authenticate'), 'Basic');
    t.match((await get('/status/closed', { 'x-status-password': password })).headers.get('x-robots-tag'), 'noindex');
  });

  await t.test('a cookie opens its page until who may read that is changed, whatever its slug', async (t) => {
    const id = await api.page({ name: 'Mine', slug: 'mine', items, password });
    const other = await api.page({ name: 'Theirs', slug: 'theirs', items, password });
    const opened = await post('/status/mine/unlock', { password, to: '/history' });
    t.equal(opened.status, 303);
    t.equal(opened.headers.get('location'), '/status/mine/history');
    t.equal(opened.headers.get('cache-control'), 'no-store');
    t.match(opened.headers.get('set-cookie'), /; Path=\/status\/mine; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/);
    const cookie = cookieOf(opened);
    t.equal((await get('/status/mine', { cookie })).status, 200);
    t.equal((await get('/status/mine/feed.json', { cookie })).status, 200);
    t.equal((await get('/status/theirs', { cookie })).status, 401, 'another page with the same password');
    await set(id, { slug: 'mine-too' });
    t.equal((await get('/status/mine-too', { cookie })).status, 200, 'under its new slug');
    const moved = await get('/status/mine', { cookie });
    t.equal(moved.status, 301);
    t.equal(moved.headers.get('cache-control'), 'no-store');
    await set(other, { slug: 'theirs-too' });
    t.equal((await get('/status/theirs-too', { cookie })).status, 401);
    await set(id, { description: 'Something else' });
    t.equal((await get('/status/mine-too', { cookie })).status, 200, 'what is said there ends nothing');
    await set(id, { password: 'another horse' });
    t.equal((await get('/status/mine-too', { cookie })).status, 401, 'at once after the password was changed');
    t.equal(
      (await get('/status/mine-too', { 'x-status-password': password })).status,
      401,
      'which is remembered no more',
    );
    const again = cookieOf(await post('/status/mine-too/unlock', { password: 'another horse' }));
    t.equal((await get('/status/mine-too', { cookie: again })).status, 200);
    await set(id, { allowed_mail_domains: ['shop.example'] });
    t.equal((await get('/status/mine-too', { cookie: again })).status, 401, 'a change of a list ends all, too');
    await set(id, { password: null, allowed_mail_domains: [] });
    t.equal((await get('/status/mine-too')).status, 200, 'now it is public');
    t.equal((await get('/status/mine-too/feed.json')).headers.get('access-control-allow-origin'), '*');
    t.equal((await post('/status/mine-too/unlock', { password })).status, 303);
  });

  await t.test('networks read without anything, as the address behind trusted proxies says', async (t) => {
    await api.page({ name: 'Nets', slug: 'nets', items, allowed_addresses: ['203.0.113.0/25', '2001:db8:7::/48'] });
    for (const [from, status] of [
      ['203.0.113.127', 200],
      ['203.0.113.128', 401],
      ['2001:db8:7:1::9', 200],
      ['2001:db8:8::9', 401],
      ['::ffff:203.0.113.1', 200],
    ] as const) {
      for (const at of ['/status/nets', '/api/v1/public/status/nets'])
        t.equal((await get(at, {}, { from })).status, status, `${at} ${from}`);
    }
    t.equal((await get('/status/nets', { 'x-status-password': '', forwarded: 'for=203.0.113.1' })).status, 401);
  });

  await t.test(
    'a flood of wrong passwords is held up, by whatever way it comes, and holds up nobody else',
    async (t) => {
      await api.page({ name: 'Flood', slug: 'flood', items, password });
      const from = '203.0.113.200';
      const byHeader = (text: string) => get('/status/flood/feed.rss', { 'x-status-password': text }, { from });
      const ways = [
        byHeader,
        (text: string) => get('/status/flood', { authorization: basic(text) }, { from }),
        (text: string) => get('/api/v1/public/status/flood', { 'x-status-password': text }, { from }),
        (text: string) => post('/status/flood/unlock', { password: text }, { from }),
      ];
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (ways[index % 4] ?? byHeader)(`wrong ${index}`)),
      );
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      t.equal(count(401), 5);
      t.equal(count(429), 35);
      for (const answer of answers) {
        if (answer.status === 429) t.ok(Number(answer.headers.get('retry-after')) > 0);
      }
      t.equal(
        (await get('/status/flood', { 'x-status-password': password }, { from })).status,
        429,
        'not even the right one',
      );
      t.equal((await get('/status/flood', { 'x-status-password': password })).status, 200, 'from elsewhere it is');
      const cookie = cookieOf(await post('/status/flood/unlock', { password }));
      t.equal((await get('/status/flood', { cookie }, { from })).status, 200, 'who is in stays in');
      api.clock.ms += 60_000;
      t.equal((await get('/status/flood', { 'x-status-password': password }, { from })).status, 200);
    },
  );

  await t.test('whoever reads mail at a domain is sent a link that opens the page once', async (t) => {
    const id = await api.page({ name: 'Mailed', slug: 'mailed', items, allowed_mail_domains: ['shop.example'] });
    const asked = await Promise.all(
      ['Ann@Shop.Example', 'eve@evil.example', 'eve@sub.shop.example', 'eve@shop.example.evil.example'].map((mail) =>
        post('/status/mailed/unlock', { mail }),
      ),
    );
    t.same(new Set(asked.map(({ status, text }) => `${status} ${text}`)).size, 1, 'one answer to all');
    t.equal(asked[0]?.status, 200);
    const [mail, ...others] = await send();
    t.same(others, []);
    t.same(mail?.to, ['ann@shop.example']);
    const [url = '', token = ''] =
      /https:\/\/parallax\.example(\/status\/mailed\/unlock\/\w+)/.exec(mail?.parsed.text ?? '') ?? [];
    t.ok(token, url);
    const link = await get(token);
    t.equal(link.status, 200);
    t.equal(link.headers.get('cache-control'), 'no-store');
    t.equal(link.headers.get('set-cookie'), null, 'opening it does nothing');
    t.equal((await post(token, {}, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403);
    const other = await api.page({
      name: 'Mailed 2',
      slug: 'mailed-two',
      items,
      allowed_mail_domains: ['shop.example'],
    });
    t.equal((await post(token.replace('mailed', 'mailed-two'), {})).status, 404, 'of another page it is none');
    const used = await Promise.all(Array.from({ length: 5 }, () => post(token, {})));
    t.same(
      used.map(({ status }) => status).toSorted((a, b) => a - b),
      [303, 404, 404, 404, 404],
      'once, also at once',
    );
    const cookie = cookieOf(used.find(({ status }) => status === 303) as TestAnswer);
    t.equal((await get('/status/mailed', { cookie })).status, 200);
    const tokenOf = async () => {
      await post('/status/mailed/unlock', { mail: 'bob@shop.example' });
      const [one] = await send();
      return /(\/status\/mailed\/unlock\/\w+)/.exec(one?.parsed.text ?? '')?.[1] ?? '';
    };
    const old = await tokenOf();
    await api.database.worker.query(
      sql.unsafe`update status_page_links set expires_at = now() where page_id = ${id} and used_at is null`,
    );
    t.equal((await post(old, {})).status, 404, 'after a quarter of an hour');
    const before = await tokenOf();
    await set(id, { allowed_mail_domains: ['shop.example', 'other.example'] });
    t.equal((await post(before, {})).status, 404, 'after a change of who may read the page');
    t.equal((await get('/status/mailed', { cookie })).status, 401);
    t.ok(await tokenOf());
    t.equal(await tokenOf(), '', 'an address is sent three an hour, and nobody is told');
    const kept = await api.database.worker.one(sql.type(z.object({ text: z.string() }))`
      select string_agg(l::text, '') as text from status_page_links l where page_id in (${id}, ${other})`);
    t.notMatch(kept.text, /ann|bob|shop/, 'nothing says who reads the page');
    const from = '203.0.113.201';
    for (let number = 0; number < 10; number += 1) {
      t.equal((await post('/status/mailed/unlock', { mail: `${number}@evil.example` }, { from })).status, 200);
    }
    const above = await post('/status/mailed/unlock', { mail: 'ann@shop.example' }, { from });
    t.equal(above.status, 429);
    t.ok(Number(above.headers.get('retry-after')) > 0);
  });

  await t.test('the badge of a private page is none, but for those who may read the page', async (t) => {
    const id = await api.page({ name: 'Badge', slug: 'badge-of', items });
    const { key } = await api.badge({ type: 'page', id });
    t.equal((await api.shown(key, 'status.svg')).status, 200);
    t.equal((await api.shown(key, 'uptime.json')).status, 200);
    await set(id, { password });
    const unknown = await api.shown(`${key.slice(0, -1)}x`, 'status.json');
    for (const document of ['status.svg', 'status.json', 'uptime.svg', 'uptime.json']) {
      const closed = await api.shown(key, document);
      t.equal(closed.status, 404, document);
      t.equal((await api.shown(key, document, { headers: { 'x-status-password': 'wrong' } })).status, 404);
      for (const headers of [{ 'x-status-password': password }, { authorization: basic(password) }]) {
        const open = await api.shown(key, document, { headers });
        t.equal(open.status, 200, document);
        t.equal(open.headers.get('cache-control'), 'no-store');
        t.equal(open.headers.get('access-control-allow-origin'), null);
      }
    }
    const closed = await api.shown(key, 'status.json');
    t.same([closed.text, closed.headers.get('cache-control')], [unknown.text, unknown.headers.get('cache-control')]);
    await set(id, { password: null });
    t.equal((await api.shown(key, 'status.json')).status, 200);
  });

  await t.test(
    'what a process keeps for a time without a database is private with its page, read or not',
    async (t) => {
      const folder = path.join(dataDir, 'status-pages');
      const id = await api.page({ name: 'Kept', slug: 'kept', items });
      t.equal((await get('/status/kept')).status, 200);
      const isThere = () => readdirSync(folder).includes('kept.json');
      const until = async (what: string, isSo: () => boolean) => {
        for (const endMs = Date.now() + 20_000; !isSo() && Date.now() < endMs; )
          await new Promise((go) => setTimeout(go, 10));
        t.ok(isSo(), what);
      };
      await until('it is written', isThere);
      const away = async (headers: Record<string, string>) => {
        const pages = await keptPages(dataDir, quietLog);
        const asked = { path: '/status/kept', query: '', acceptLanguage: 'en', client: clientWith(headers) };
        return pages?.fetch(asked).then(
          ({ status }) => status,
          () => 503,
        );
      };
      t.equal(await away({}), 200);
      await set(id, { password });
      await until(
        'what it was is gone, or private',
        () => !isThere() || readFileSync(path.join(folder, 'kept.json'), 'utf8').includes('argon2'),
      );
      t.not(await away({}), 200);
      t.equal((await get('/status/kept', { 'x-status-password': password })).status, 200);
      await until('it is written as it is now', isThere);
      t.equal(await away({}), 401);
      t.equal(await away({ 'x-status-password': password }), 200);
      t.notMatch(readFileSync(path.join(folder, 'kept.json'), 'utf8'), password);
      await set(id, { is_published: false });
      await until('a page that is withdrawn is gone', () => !isThere());
    },
  );
});
