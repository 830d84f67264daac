import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { sweepSubscribers } from './sending/claim.queries.ts';
import { hostsOfPages } from '../index.ts';
import { linkIn, subscribersApi } from './testing.ts';

const days = { pendingDays: 7, unsubscribedDays: 30 };

void t.test('subscribers by mail', async (t) => {
  const api = await subscribersApi(t);
  const page = await api.page();
  const other = await api.page();

  await t.test('the form is a document of the page, and the page leads to it', async (t) => {
    t.match((await api.call('GET', `/status/${page.slug}`)).text, `href="/status/${page.slug}/subscribe?lang=en"`);
    const form = await api.call('GET', `/status/${page.slug}/subscribe?lang=ru`);
    t.equal(form.status, 200);
    t.match(form.text, /<form class="card fo" method=post action="\/status\/shop-1\/subscribe\?lang=ru">/);
    t.match(form.text, new RegExp(`name=component value="${page.components[1]}"`));
    t.match(form.headers.get('content-security-policy'), /form-action 'self'/);
    await api.database.worker.query(sql.unsafe`update status_pages set subscribe = '{}' where id = ${other.id}`);
    t.equal((await api.call('GET', `/status/${other.slug}/subscribe`)).status, 404);
    t.equal((await api.form(`${other.slug}/subscribe`, [['target', 'a@example.com']])).status, 404);
    t.equal((await api.form('nowhere/subscribe', [['target', 'a@example.com']])).status, 404);
  });

  await t.test('whoever may not read a private page cannot subscribe to it', async (t) => {
    const closed = await api.page();
    await api.database.worker.query(sql.unsafe`
      update status_pages set allowed_addresses = '{192.0.2.0/24}', access_version = access_version + 1 where id = ${closed.id}`);
    const refused = await api.form(`${closed.slug}/subscribe`, [['target', 'stranger@example.com']]);
    t.equal(refused.status, 303);
    t.equal(refused.headers.get('location'), 'subscribe', 'where the form stands that lets readers in');
    t.equal(await api.count(sql.fragment`status_page_subscribers where page_id = ${closed.id}`), 0);
    t.same(await api.asked(), []);
    const own = [['target', 'reader-of-it@example.com']] as const;
    const taken = await api.form(`${closed.slug}/subscribe`, own, '192.0.2.9');
    t.equal(taken.status, 200);
    t.equal(await api.count(sql.fragment`status_page_subscribers where page_id = ${closed.id}`), 1);
    await api.asked();
    await api.database.worker.query(sql.unsafe`delete from status_page_subscribers where page_id = ${closed.id}`);
  });

  let link = '';
  await t.test('nothing is told before the button of the mailed page is pressed', async (t) => {
    const answer = await api.form(`${page.slug}/subscribe`, [
      ['target', ' Reader@Example.COM '],
      ['component', page.components[0]],
      ['lang', 'ru'],
    ]);
    t.equal(answer.status, 200);
    t.match(answer.text, 'Подтвердите подписку');
    const [mail, ...more] = await api.asked();
    t.same([mail?.to, more.length], [['Reader@example.com'], 0]);
    t.equal(mail?.parsed.subject, 'Подтвердите подписку: Shop');
    link = linkIn(mail);
    const incident = await api.outage(page.monitors[0]);
    t.same(await api.told(), []);
    t.match((await api.call('GET', `/status/${link}`)).text, 'action=confirm');
    t.same(await api.told(), [], 'whoever looks at mails opens links');
    const confirmed = await api.form(`${link}?action=confirm`, []);
    t.match(confirmed.text, 'Подписка сохранена');
    t.match(confirmed.text, 'name=robots content=noindex');
    t.notMatch(confirmed.text, 'rel=canonical');
    t.same(await api.told(), [], 'what was before is no news');
    await api.resolve(incident);
    const [told] = await api.told();
    t.equal(told?.parsed.subject, '[Shop] Checkout: сбой – Устранено');
  });

  await t.test(
    'the answer is the same whether somebody is subscribed or not, and nobody is asked twice in an hour',
    async (t) => {
      const subscribe = (address: string) => api.form(`${page.slug}/subscribe`, [['target', address]]);
      const [known, unknown] = [await subscribe('reader@example.com'), await subscribe('nobody@example.com')];
      t.same([known.status, known.text], [unknown.status, unknown.text]);
      t.same(
        (await api.asked()).map(({ to }) => to.join()),
        ['nobody@example.com'],
      );
      await subscribe('nobody@example.com');
      t.same(await api.asked(), []);
      await api.pass(3_700);
      await subscribe('nobody@example.com');
      await subscribe('READER@example.com');
      const mails = await api.asked();
      t.same(mails.map(({ parsed }) => String(parsed.subject)).toSorted(), [
        'Confirm your subscription to Shop',
        'Вы уже подписаны: Shop',
      ]);
      t.equal(
        linkIn(mails.find(({ to }) => to.join() === 'Reader@example.com' || to.join() === 'READER@example.com')),
        link,
      );
    },
  );

  await t.test('the page of the link changes what is told, and in which language', async (t) => {
    await api.form(`${link}?action=save&lang=ru`, [
      ['component', page.components[1]],
      ['lang', 'en'],
    ]);
    await api.outage(page.monitors[0]);
    t.same(await api.told(), []);
    await api.outage(page.monitors[1]);
    const [mail] = await api.told();
    t.equal(mail?.parsed.subject, '[Shop] Search: outage – Investigating');
    t.match(mail?.parsed.text, 'Our checks have found a problem with Search.');
    t.notMatch(mail?.raw.toString(), 'internal', 'neither the title nor the name of the operators');
    const headers = Object.fromEntries((mail?.parsed.headers ?? []).map(({ key, value }) => [key, value]));
    t.equal(headers['list-unsubscribe'], `<https://parallax.example/status/${link}>`);
    t.equal(headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click');
  });

  await t.test('one click ends it, also what waits; by the same link it begins again', async (t) => {
    const incident = await api.outage(page.monitors[1]);
    await api.told();
    await api.say(incident, 'We found it.');
    await api.told();
    t.equal(await api.count(sql.fragment`status_page_notices where told_id < wanted_id`), 1);
    const answer = await api.form(link, [['List-Unsubscribe', 'One-Click']]);
    t.match(answer.text, 'You are unsubscribed');
    await api.pass(400);
    t.same(await api.told(), []);
    await api.form(`${link}?action=confirm`, []);
    await api.resolve(incident);
    t.equal((await api.told()).length, 1);
  });

  await t.test('a page with a domain of its own leads there, and is left there', async (t) => {
    const [own, unproven] = [await api.page(), await api.page()];
    const host = 'status.shop.example';
    for (const [page, state] of [
      [own, 'verified'],
      [unproven, 'pending'],
    ] as const)
      await api.database.worker.query(sql.unsafe`
        insert into status_page_domains (page_id, workspace_id, domain, proof, state, checked_at)
        values (${page.id}, ${api.workspaceId}, ${host}, 'parallax-verification=aaaaaaaaaaaaaaaaaaaa', ${state}, now())`);
    hostsOfPages(api.context).take([
      { domain: host, slug: own.slug, workspace_id: api.workspaceId, is_published: true },
    ]);
    const subscribe = async ({ slug }: { readonly slug: string }) => {
      await api.form(`${slug}/subscribe`, [['target', 'own@example.com']]);
      return (await api.asked())[0];
    };
    t.match(
      (await subscribe(unproven))?.parsed.text,
      'https://parallax.example/status/',
      'without a proof it is nobody’s',
    );
    const asked = await subscribe(own);
    const [, path] = /https:\/\/status\.shop\.example(\/subscription\/plsp_\w+)/.exec(asked?.parsed.text ?? '') ?? [];
    if (path === undefined) return t.fail(`there is no link in ${asked?.parsed.text}`);
    const at = (query: string, body: string) =>
      api.call('POST', `${path}${query}`, {
        body,
        headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
      });
    t.equal((await at('?action=confirm', '')).status, 200);
    await api.outage(own.monitors[0]);
    const [told] = await api.told();
    const headers = Object.fromEntries((told?.parsed.headers ?? []).map(({ key, value }) => [key, value]));
    t.equal(headers['list-unsubscribe'], `<https://${host}${path}>`);
    t.match(told?.parsed.text, `https://${host}/incidents/`);
    t.notMatch(told?.parsed.text, 'parallax.example');
    const feed = await api.call('GET', '/feed.atom', { headers: { host } });
    t.match(feed.text, `href="https://${host}/feed.atom"`);
    t.notMatch(feed.text, 'parallax.example');
    t.match((await at('', 'List-Unsubscribe=One-Click')).text, 'You are unsubscribed');
    t.equal(await api.count(sql.fragment`status_page_subscribers where page_id = ${own.id} and state = 'active'`), 0);
    await api.database.worker.query(sql.unsafe`delete from status_page_domains`);
    await api.database.worker.query(
      sql.unsafe`delete from status_page_subscribers where page_id in (${own.id}, ${unproven.id})`,
    );
    hostsOfPages(api.context).take([]);
  });

  await t.test('a page that is not published tells nobody, and can be left', async (t) => {
    const publish = (isPublished: boolean) =>
      api.database.worker.query(
        sql.unsafe`update status_pages set is_published = ${isPublished} where id = ${page.id}`,
      );
    const incident = await api.outage(page.monitors[1]);
    await api.told();
    await api.say(incident, 'We found it.');
    await api.told();
    await publish(false);
    await api.pass(400);
    t.same(await api.told(), []);
    t.equal((await api.call('GET', `/status/${link}`)).status, 200);
    await publish(true);
    t.equal((await api.told()).length, 1);
  });

  await t.test('who does not confirm is forgotten after 7 days, who leaves after 30', async (t) => {
    const states = sql.fragment`status_page_subscribers where state in ('pending', 'unsubscribed')`;
    await api.form(link, []);
    t.equal(await api.count(states), 2);
    await sweepSubscribers(api.database.worker, days);
    t.equal(await api.count(states), 2);
    await api.pass(7 * 86_400 + 60);
    await sweepSubscribers(api.database.worker, days);
    t.equal(await api.count(states), 1);
    await api.pass(23 * 86_400);
    await sweepSubscribers(api.database.worker, days);
    t.equal(await api.count(states), 0);
    t.equal((await api.call('GET', `/status/${link}`)).status, 404);
  });

  await t.test('what comes from outside is taken for what it is', async (t) => {
    const page = await api.page({ name: '<script>alert(1)</script>\r\nBcc: all@example.com' });
    for (const target of [
      '',
      'no address',
      'nobody',
      'a@b@c',
      'a@example.com\r\nBcc: b@example.com',
      '<a@example.com>',
      'a\0@example.com',
      `${'a'.repeat(3_000)}@example.com`,
    ]) {
      const answer = await api.form(`${page.slug}/subscribe`, [['target', target]]);
      t.equal(answer.status, 422, JSON.stringify(target.slice(0, 40)));
      t.notMatch(answer.text, '<script>alert');
    }
    const reflected = await api.form(`${page.slug}/subscribe`, [['target', '"><script>alert(2)</script>']]);
    t.notMatch(reflected.text, '<script>alert');
    t.equal(
      (
        await api.form(`${page.slug}/subscribe`, [
          ['kind', 'webhook'],
          ['target', 'http://127.0.0.1/'],
        ])
      ).status,
      422,
      'a way that the page has not',
    );
    t.equal(
      (
        await api.form(`${page.slug}/subscribe`, [
          ['kind', 'carrier pigeon'],
          ['target', 'a@example.com'],
        ])
      ).status,
      422,
    );
    t.equal(await api.count(sql.fragment`status_page_subscribers where page_id = ${page.id}`), 0);
    await api.form(`${page.slug}/subscribe`, [
      ['target', 'a@example.com'],
      ['component', 'ffffffffffff'],
      ['component', "'; drop table monitors; --"],
    ]);
    const [mail] = await api.asked();
    t.same(mail?.to, ['a@example.com']);
    t.notMatch(mail?.parsed.html, '<script>alert');
    await api.form(`${linkIn(mail)}?action=confirm`, []);
    await api.outage(page.monitors[0]);
    t.same(await api.told(), [], 'a component that is none is not all of them');
    for (const token of ['x', `plsp_${'a'.repeat(38)}`, '%00', '..%2f..']) {
      const { status } = await api.form(`${page.slug}/subscription/${token}?action=confirm`, []);
      t.ok(status === 404 || status === 422, `${token}: ${status}`);
    }
    t.equal((await api.form(`${page.slug}/subscribe`, [['target', 'x'.repeat(20_000)]])).status, 413);
  });

  await t.test('one client subscribes ten times an hour, and one address is asked five times', async (t) => {
    const page = await api.page();
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1) {
      statuses.push(
        (await api.form(`${page.slug}/subscribe`, [['target', `r${index}@example.com`]], '198.51.100.7')).status,
      );
    }
    t.same(statuses, [...Array(10).fill(200), 429, 429]);
    t.equal((await api.asked()).length, 10);
    const pages = [page];
    while (pages.length < 6) pages.push(await api.page());
    for (const { slug } of pages) await api.form(`${slug}/subscribe`, [['target', 'victim@example.com']]);
    t.equal((await api.asked()).length, 5);
  });

  await t.test(
    'a page has as many subscribers as the plan has room for, and says so to those who confirm',
    async (t) => {
      await api.database.worker.query(sql.unsafe`update users set plan = 'free'`);
      const page = await api.page();
      await api.manySubscribed(
        page,
        Array.from({ length: 99 }, (_, index) => `m${index}@example.com`),
      );
      await api.form(`${page.slug}/subscribe`, [['target', 'one@example.com']]);
      await api.form(`${page.slug}/subscribe`, [['target', 'two@example.com']]);
      const [one, two] = (await api.asked()).map(linkIn);
      t.match((await api.form(`${one}?action=confirm`, [])).text, 'Your subscription is saved');
      t.match((await api.form(`${two}?action=confirm`, [])).text, 'no room for more subscribers');
      t.equal(
        await api.count(sql.fragment`status_page_subscribers where page_id = ${page.id} and state = 'active'`),
        100,
      );
    },
  );
});
