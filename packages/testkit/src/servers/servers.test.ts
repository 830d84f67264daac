import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { Agent, get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { testAuthority } from '../certificates.ts';
import { leakGuard } from '../leak-guard.ts';
import { dnsTarget } from './dns-target.ts';
import { httpTarget } from './http-target.ts';
import { tcpTarget } from './tcp-target.ts';

leakGuard(t);

t.test('the HTTP target answers, resets, sends garbage, refuses and comes back as it is told', async (t) => {
  const target = await httpTarget(t);
  const status = async () => (await fetch(target.url, { headers: { connection: 'close' } })).status;
  t.equal(await status(), 200);
  target.behave({ kind: 'answer', status: 503 });
  t.equal(await status(), 503);
  for (const kind of ['reset', 'close', 'garbage'] as const) {
    target.behave({ kind });
    await t.rejects(status(), TypeError, kind);
  }
  target.behave({ kind: 'hang' });
  await t.rejects(fetch(target.url, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' });
  await target.close();
  await t.rejects(status(), { cause: { code: 'ECONNREFUSED' } });
  target.behave({ kind: 'answer' });
  await target.open();
  t.equal(await status(), 200);
  t.equal(target.requests.at(-1)?.method, 'GET');
});

t.test('an HTTPS target has a certificate of the test authority with the given dates', async (t) => {
  const authority = await testAuthority();
  const ask = async (target: { port: number }) => {
    const agent = new Agent({ ca: authority.certificatePem });
    const request = get({ host: '127.0.0.1', servername: 'shop.test', port: target.port, agent });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    agent.destroy();
    return response.statusCode;
  };
  const good = await httpTarget(t, { tls: await authority.issue({ names: ['shop.test', '127.0.0.1'] }) });
  t.equal(await ask(good), 200);
  const expired = await httpTarget(t, {
    tls: await authority.issue({ names: ['shop.test'], notAfter: new Date(Date.now() - 1_000) }),
  });
  await t.rejects(ask(expired), { code: 'CERT_HAS_EXPIRED' });
  const other = await httpTarget(t, { tls: await authority.issue({ names: ['other.test'] }) });
  await t.rejects(ask(other), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});

t.test('the TCP target greets and echoes', async (t) => {
  const target = await tcpTarget(t, { behaviour: { kind: 'greet', banner: '220 ready\r\n' } });
  const first = connect(target.port, target.host);
  t.equal(String((await once(first, 'data'))[0]), '220 ready\r\n');
  first.destroy();
  target.behave({ kind: 'echo' });
  const second = connect(target.port, target.host);
  second.write('ping');
  t.equal(String((await once(second, 'data'))[0]), 'ping');
  second.destroy();
  t.equal(target.connections(), 2);
});

t.test('the DNS target answers over UDP, over TCP when cut short, with codes and not at all', async (t) => {
  const target = await dnsTarget(t);
  const resolver = new Resolver({ timeout: 100, tries: 1 });
  resolver.setServers([`127.0.0.1:${target.port}`]);
  const records = [{ name: 'a.test', type: 'A' as const, ttl: 60, data: '192.0.2.1' }];
  target.behave({ kind: 'records', records });
  t.same(await resolver.resolve4('a.test'), ['192.0.2.1']);
  await t.rejects(resolver.resolve4('b.test'), { code: 'ENOTFOUND' });
  target.behave({ kind: 'truncated', records });
  t.same(await resolver.resolve4('a.test'), ['192.0.2.1']);
  t.same(target.questions.at(-1), { name: 'a.test', type: 'A', transport: 'tcp' });
  target.behave({ kind: 'code', code: 'SERVFAIL' });
  await t.rejects(resolver.resolve4('a.test'), { code: 'ESERVFAIL' });
  target.behave({ kind: 'silent' });
  await t.rejects(resolver.resolve4('a.test'), { code: 'ETIMEOUT' });
});
