import { setTimeout as delay } from 'node:timers/promises';
import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import type { TestAnswer } from '../../../identity/testing.ts';
import { sql } from '../../../platform/database/pools.ts';
import { keptHosts } from '../index.ts';
import { recheckDomains } from './recheck.job.ts';
import { domainsApi } from './testing.ts';
import type { DomainsApi } from './testing.ts';

const host = 'status.shop.example';
const own = 'parallax.example';
const dayMs = 86_400_000;

/** Waits until a host answers so. */
async function until(api: DomainsApi, status: number, path = '/', at = host): Promise<void> {
  await untilSeen(api, (answer) => answer.status === status, path, at);
}

async function untilNamed(api: DomainsApi, name: string): Promise<void> {
  await untilSeen(api, ({ text }) => text.includes(`"name":"${name}"`), '/api/v2/summary.json', host);
}

/** @param isThere what must be seen within two seconds, or somewhat later while the machine has more to do than it can */
async function untilSeen(
  api: DomainsApi,
  isThere: (answer: TestAnswer) => boolean,
  path: string,
  at: string,
): Promise<void> {
  const endMs = Date.now() + 10_000;
  for (;;) {
    await api.settle();
    const answer = await api.at(at, path);
    if (isThere(answer)) return;
    if (Date.now() > endMs) throw new Error(`${at}${path} still answers ${answer.status} ${answer.text.slice(0, 200)}`);
    await delay(20);
  }
}

async function verified(api: DomainsApi, fields: Record<string, unknown> = {}): Promise<{ id: number; proof: string }> {
  const page = await api.page({ is_published: true, slug: 'shop', domain: host, ...fields });
  const proof = page.domain_txt ?? '';
  api.txt({ [`_parallax.${page.domain}`]: ['v=spf1 -all', proof] });
  const answer = await api.pages('POST', `/${page.id}/domain/verify`);
  if (answer.status !== 200) throw new Error(`verify: ${answer.status} ${answer.text}`);
  return { id: page.id, proof };
}

void t.test('pages are served under domains of their own', async (t) => {
  const api = await domainsApi(t);
  t.afterEach(async () => {
    for (const { id } of (await api.pages('GET', '')).body['status_pages'] as { id: number }[]) {
      await api.pages('DELETE', `/${id}`);
    }
    await api.database.worker.query(sql.unsafe`delete from status_page_slugs`);
    await api.settle();
  });

  await t.test('a domain is verified by a record in its DNS, and then serves the page at its root', async (t) => {
    const page = await api.page({ is_published: true, slug: 'shop', domain: 'Status.Shop.Example.' });
    t.match(page, { domain: host, domain_state: 'pending', url: 'https://parallax.example/status/shop' });
    t.match(page.domain_txt, /^parallax-domain=[\w-]{32}$/);
    t.equal((await api.at(host, '/')).status, 421, 'nothing is served there before');
    const verify = () => api.pages('POST', `/${page.id}/domain/verify`);
    const none = await verify();
    t.match(none, { status: 409, body: { code: 'domain_unproven' } });
    t.match(none.body['detail'], `_parallax.${host} has no TXT record; set its TXT record _parallax.${host} to`);
    api.txt({ [`_parallax.${host}`]: ['something \u0007else'] });
    t.match((await verify()).body['detail'], `_parallax.${host} has "something \ufffdelse"; set`);
    api.dns.behave({ kind: 'code', code: 'SERVFAIL' });
    t.match(await verify(), { status: 409, body: { detail: /could not be looked up: the name server failed/ } });
    api.txt({ [`_parallax.${host}`]: [page.domain_txt ?? ''] });
    t.match(await verify(), { status: 200, body: { domain_state: 'verified', url: `https://${host}` } });
    t.match(await verify(), { status: 200, body: { version: 2 } }, 'once more changes nothing');
    await until(api, 200);

    const html = await api.at(host, '/');
    t.match(html.text, `<link rel=canonical href="https://${host}">`);
    t.match(html.text, '<a href="/history?lang=en">');
    t.notMatch(html.text, /parallax\.example|status\/shop/);
    for (const path of [
      '/history',
      '/feed.rss',
      '/feed.atom',
      '/feed.json',
      '/calendar.ics',
      '/embed',
      '/embed.js',
      '/?lang=ru',
    ]) {
      const answer = await api.at(host, path);
      t.equal(answer.status, 200, path);
      t.notMatch(answer.text, /parallax\.example/, path);
    }
    const summary = await api.at(host, '/api/v2/summary.json');
    t.match(summary.body, { page: { url: `https://${host}` } });
    t.equal(
      html.headers.get('strict-transport-security'),
      null,
      'what holds for the whole domain is for its owner to say',
    );
    const atInstallation = await api.at(own, '/status/shop');
    t.match(atInstallation.text, `<link rel=canonical href="https://${host}">`);
    t.match(atInstallation.text, '<a href="/status/shop/history?lang=en">', 'readers stay where they are');
  });

  await t.test('nothing else of the product is there, whatever the host and the path are written like', async (t) => {
    const { id } = await verified(api);
    await until(api, 200);
    const more = [
      '/api/v1/monitors',
      '/api/v1/public/status/shop',
      '/metrics',
      '/docs',
      '/openapi.json',
      '/health/liveness',
    ];
    for (const path of [
      ...more,
      '/status/shop',
      '//status/shop',
      '/../api/v1/monitors',
      '/%2e%2e/api/v1/monitors',
      '/..%2fdocs',
    ]) {
      t.equal((await api.at(host, path)).status, 404, path);
      const posted = await api.at(host, path, { method: 'POST', headers: { authorization: `Bearer ${api.token}` } });
      t.equal(posted.status, 404, `POST ${path}`);
    }
    const authorized = { authorization: `Bearer ${api.token}` };
    t.equal((await api.at(host, `/api/v1/status-pages/${id}`, { headers: authorized })).status, 404);
    t.equal((await api.at(own, `/api/v1/status-pages/${id}`, { headers: authorized })).status, 200);
    for (const written of [`${host}:443`, `${host}:8443`, `${host}.`, host.toUpperCase(), `${host}.:443`]) {
      t.equal((await api.at(written, '/')).status, 200, written);
    }
    for (const written of [
      `x.${host}`,
      `${host}.evil.example`,
      `${host}@${own}`,
      `${host}/`,
      `${own}#${host}`,
      `${host} `.trim() + '..',
    ]) {
      t.equal((await api.at(written, '/')).status, 421, written);
    }
    t.equal((await api.at(own, '/history')).status, 404, 'the installation has no such path');
    const told = (name: string, at = own) => api.at(at, '/history', { headers: { 'x-forwarded-host': name } });
    t.equal((await told(host)).status, 200, 'a trusted proxy says for whom it asks');
    t.equal((await told(`evil.example, ${host}`)).status, 200, 'the nearest one counts');
    t.equal((await told(`${host}, evil.example`)).status, 404);
    t.equal((await told(own, host)).status, 200, 'and cannot lead out of the page');
    t.equal((await api.at(host, '/api/v1/monitors', { headers: { 'x-forwarded-host': own } })).status, 404);
  });

  await t.test('a domain is claimed by many, and belongs to whom proves it first', async (t) => {
    const { id, proof } = await verified(api);
    const { id: other, domain_txt: otherProof } = await api.page({ name: 'Other', is_published: true, domain: host });
    t.not(otherProof, proof);
    const verify = (page: number) => api.pages('POST', `/${page}/domain/verify`);
    t.match(await verify(other), { status: 409, body: { code: 'domain_unproven' } }, 'that it is taken is not told');
    api.txt({ [`_parallax.${host}`]: [proof, otherProof ?? ''] });
    t.match(await verify(other), { status: 409, body: { code: 'domain_taken' } });
    await untilNamed(api, 'Shop');
    await api.pages('PUT', `/${id}`, { domain: null });
    const answers = await Promise.all([verify(other), verify(other)]);
    t.same(
      answers.map(({ status }) => status),
      [200, 200],
    );
    await untilNamed(api, 'Other');
    await api.pages('PUT', `/${id}`, { domain: host });
    const again = await api.read(id);
    t.not(again.domain_txt, proof, 'a proof that was given up counts no more');
    t.match(await verify(id), { status: 409, body: { code: 'domain_unproven' } });
  });

  await t.test('who takes a domain away, unpublishes or deletes the page ends it within two seconds', async (t) => {
    const { id } = await verified(api);
    const ask = async (domain: string) =>
      (await api.call('GET', `/api/v1/public/domains/ask?domain=${encodeURIComponent(domain)}`)).status;
    await until(api, 200);
    t.same([await ask(host), await ask(`${host}.`.toUpperCase())], [200, 200]);
    t.same([await ask('shop.example'), await ask(own), await ask('10.0.0.1'), await ask('a b')], [404, 404, 404, 404]);
    t.equal((await api.call('GET', '/api/v1/public/domains/ask')).status, 404);
    const kept = async () => (await keptHosts(api.context.dataDir ?? '', quietLog)).prefixOf(host);
    for (let turn = 0; turn < 200 && (await kept()) === undefined; turn += 1) await delay(20);
    t.equal(await kept(), '/status/shop', 'a process that starts without a database knows it');
    await api.pages('PUT', `/${id}`, { is_published: false });
    await until(api, 404);
    await until(api, 404, `/api/v1/public/domains/ask?domain=${host}`, own);
    await api.pages('PUT', `/${id}`, { is_published: true, slug: 'shop-of-spring' });
    await until(api, 200);
    t.equal((await api.at(host, '/history')).status, 200, 'a slug is nothing that its readers know of');
    await api.pages('PUT', `/${id}`, { domain: 'other.shop.example' });
    await until(api, 421);
    t.match(await api.read(id), { domain: 'other.shop.example', domain_state: 'pending' });
    await api.pages('PUT', `/${id}`, { domain: host });
    api.txt({ [`_parallax.${host}`]: [(await api.read(id)).domain_txt ?? ''] });
    await api.pages('POST', `/${id}/domain/verify`);
    await until(api, 200);
    await api.pages('DELETE', `/${id}`);
    await until(api, 421);
    t.equal(await ask(host), 404);
  });

  await t.test('a proof that is gone for a week ends the domain, with a mail to the owner', async (t) => {
    const { id, proof } = await verified(api);
    await api.database.worker.query(sql.unsafe`update users set email_verified = true`);
    await until(api, 200);
    t.equal(await recheckDomains(api.context), 0, 'it was looked at today');
    /** Tokens are good for minutes, so the clock comes back. */
    const lookOn = async (day: number): Promise<number> => {
      api.clock.aheadMs = day * dayMs;
      const looked = await recheckDomains(api.context);
      api.clock.aheadMs = 0;
      return looked;
    };
    const mails = async () =>
      (
        await api.database.worker.anyFirst(
          sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from outbox where kind = 'mail.send'`,
        )
      )[0];
    const before = await mails();
    api.txt({});
    t.same([await lookOn(1), await lookOn(1)], [1, 0], 'once a day');
    api.txt({ [`_parallax.${host}`]: [proof] });
    await lookOn(6);
    api.txt({});
    await lookOn(9);
    api.dns.behave({ kind: 'code', code: 'SERVFAIL' });
    await lookOn(17);
    t.match(await api.read(id), { domain_state: 'verified' }, 'an answer that fails says nothing');
    await until(api, 200);
    await api.database.worker.query(sql.unsafe`update status_page_domains set checked_at = 'epoch'`);
    api.txt({});
    await lookOn(15);
    t.match(await api.read(id), { domain_state: 'verified' }, 'six days');
    t.equal(await lookOn(16), 1);
    t.match(await api.read(id), { domain_state: 'lost', version: 3, url: 'https://parallax.example/status/shop' });
    t.equal(await mails(), (before ?? 0) + 1);
    await until(api, 421);
    api.txt({ [`_parallax.${host}`]: [proof] });
    t.match(await api.pages('POST', `/${id}/domain/verify`), { status: 200, body: { domain_state: 'verified' } });
  });

  await t.test('what is no host name of their own is refused, and letters of all alphabets are taken', async (t) => {
    const refused = [
      'localhost',
      'shop',
      '10.0.0.1',
      '[::1]',
      '1.2.3',
      'a_b.example',
      '-a.example',
      'x.local',
      'x.localhost',
      'a b.example',
    ];
    const more = [
      'https://shop.example',
      'shop.example:80',
      'shop.example/x',
      'u@shop.example',
      'a..example',
      `${'a'.repeat(64)}.example`,
    ];
    for (const domain of [
      ...refused,
      ...more,
      `${'a.'.repeat(120)}example`,
      '%73hop.example',
      'shop.example?x',
      '*.shop.example',
    ]) {
      const answer = await api.pages('POST', '', { workspace_id: api.workspaceId, name: 'x', domain });
      t.match(answer, { status: 422, body: { errors: [{ path: '/domain' }] } }, domain);
    }
    const self = await api.pages('POST', '', { workspace_id: api.workspaceId, name: 'x', domain: own.toUpperCase() });
    t.match(self, { status: 422, body: { errors: [{ path: '/domain', code: 'own_host' }] } });
    const page = await api.page({ is_published: true, domain: 'статус.Bücher.example' });
    t.equal(page.domain, 'xn--80a7abcbg.xn--bcher-kva.example');
    api.txt({ [`_parallax.${page.domain}`]: [page.domain_txt ?? ''] });
    t.equal((await api.pages('POST', `/${page.id}/domain/verify`)).status, 200);
    await until(api, 200, '/', 'xn--80a7abcbg.xn--bcher-kva.example');
    const same = await api.pages('PUT', `/${page.id}`, {
      ...(await api.read(page.id)),
      domain: 'СТАТУС.bücher.example.',
    });
    t.match(same, { status: 200, body: { domain_state: 'verified', version: 2 } });
    const bare = await api.page({ name: 'Bare' });
    t.match(await api.pages('POST', `/${bare.id}/domain/verify`), { status: 409, body: { code: 'conflict' } });
  });
});
