import { createServer } from 'node:net';
import { lateness } from '@parallax/testkit/time-taken';
import t from 'tap';
import type { CheckContext } from '../check.ts';
import { createAddressPolicy } from '../net/address-policy.ts';
import { maxAddresses } from '../net/fan-out.ts';
import type { Resolver } from '../net/resolve.ts';
import { dependsOnUplink } from '../net/uplink.ts';
import type { CheckOutcome } from '../outcome.ts';
import { checkTypes, protocols, settingsSchema } from '../registry.ts';
import { runCheck } from '../run.ts';
import { listen, listenRaw, testContext, until } from '../testing/context.ts';
import { inverted } from './inverted.ts';

const run = (protocol: string, url: string, settings: unknown, overrides: Partial<CheckContext> = {}) =>
  runCheck(protocol, { url }, settings, testContext(overrides));

/** A name that has these addresses of each family. */
function named(addresses: Readonly<Record<4 | 6, readonly string[]>>): Resolver & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolve: async (host, { family = 4 }) => {
      asked.push(`${host} ${family}`);
      if (addresses[family].length > 0) return { ok: true, addresses: addresses[family], durationUs: 1000 };
      const failure = { outcome: 'fail', source: 'target', code: 'address_family_missing', message: 'None.' } as const;
      return { ok: false, durationUs: 1000, failure };
    },
  };
}

const page = (body: string, head = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;

async function web(t: { teardown: (stop: () => Promise<void>) => void }, answer: string) {
  const peer = await listenRaw((socket) => socket.once('data', () => socket.end(answer)));
  t.teardown(peer.stop);
  return peer.port;
}

void t.test('the common settings belong to every type, and store nothing where they are not used', async (t) => {
  for (const protocol of protocols) {
    const schema = settingsSchema(protocol);
    const all = { inverted: true, all_addresses: true, bad_address_severity: 'warn' };
    t.match(schema.parse(all), all, protocol);
    t.notOk(
      Object.keys(schema.parse({}) as object).some((name) => name in all || name === 'assertions'),
      protocol,
    );
    t.equal(schema.safeParse({ detect_stub_pages: true }).success, ['http', 'https'].includes(protocol), protocol);
  }
  t.equal(checkTypes.http.settings(), checkTypes.https.settings(), 'types that share their settings still do');
  const assertion = { subject: 'status', comparison: 'exists' };
  for (const wrong of [
    { inverted: true, assertions: assertion },
    { inverted: true, detect_stub_pages: true },
    { bad_address_severity: 'warn' },
    { assertions: { subject: 'mood', comparison: 'exists' } },
  ])
    t.notOk(settingsSchema('http').safeParse(wrong).success, JSON.stringify(wrong));
});

void t.test('an assertion makes a good answer fail, slow or warn by its severity', async (t) => {
  const port = await web(t, page('{"state":"degraded"}', 'X-Version: 7\r\n'));
  const url = `http://127.0.0.1:${port}/`;
  const assert = (severity: string, more: object = {}) =>
    run('http', url, {
      assertions: { subject: 'json', name: '$.state', comparison: 'equals', value: 'up', severity, ...more },
    });
  t.match(await assert('fail'), {
    outcome: 'fail',
    source: 'target',
    code: 'assertion_failed',
    message: /\$\.state is degraded; asserted is: equals "up"/,
    evidence: { status: 200, body: /degraded/ },
  });
  const slow = await assert('degraded');
  t.match(slow, { outcome: 'slow', code: 'assertion_failed' });
  t.equal(slow.source, undefined);
  t.match(await assert('warn'), { outcome: 'warn', source: 'target' });
  const good = await assert('fail', { value: 'degraded' });
  t.match(good, { outcome: 'ok' });
  t.notOk('facts' in good, 'facts go no further');
  t.match(
    await run('http', url, { assertions: { subject: 'header', name: 'x-version', comparison: 'at_least', value: 8 } }),
    {
      outcome: 'fail',
      message: /x-version is 7/,
    },
  );
});

void t.test('a secret that a server echoes does not get into the sentence', async (t) => {
  const port = await web(t, page('x', 'X-Echo: token canary-0001\r\n'));
  const outcome = await run('http', `http://127.0.0.1:${port}/`, {
    bearer_token: 'canary-0001',
    assertions: { subject: 'header', name: 'x-echo', comparison: 'equals', value: 'nothing' },
  });
  t.match(outcome, { code: 'assertion_failed', message: /\[redacted\]/ });
  t.notMatch(JSON.stringify(outcome), 'canary-0001');
});

void t.test('what is asserted is asked of what the server sent, whatever else is a secret', async (t) => {
  const port = await web(t, page('{"tenant":"acme","count":1234}', 'X-Tenant: acme\r\n'));
  const outcome = await run('http', `http://127.0.0.1:${port}/`, {
    secret_headers: { 'X-Tenant': 'acme', 'X-Code': '1234' },
    assertions: {
      all: [
        { subject: 'header', name: 'x-tenant', comparison: 'equals', value: 'acme' },
        { subject: 'json', name: '$.count', comparison: 'equals', value: 1234 },
        { subject: 'body', comparison: 'contains', value: 'acme' },
      ],
    },
  });
  t.match(outcome, { outcome: 'ok' });
});

void t.test('assertions are not asked where the check itself has failed', async (t) => {
  const outcome = await run('tcp', '127.0.0.1:9', { assertions: { subject: 'status', comparison: 'exists' } });
  t.match(outcome, { code: 'connect_refused' });
  const peer = await listenRaw((socket) => socket.resume());
  t.teardown(peer.stop);
  const tcp = { assertions: { subject: 'address', comparison: 'equals', value: '127.0.0.1' } };
  t.match(await run('tcp', `127.0.0.1:${peer.port}`, tcp), { outcome: 'ok' });
});

void t.test('what must not answer is good while it is silent', async (t) => {
  t.match(await run('tcp', '127.0.0.1:9', { inverted: true }), {
    outcome: 'ok',
    evidence: { details: { no_answer: 'connect_refused' } },
  });
  const peer = await listenRaw((socket) => socket.resume());
  t.teardown(peer.stop);
  const answered = await run('tcp', `127.0.0.1:${peer.port}`, { inverted: true });
  t.match(answered, { outcome: 'fail', source: 'target', code: 'inverted_answer' });
  const http = `http://127.0.0.1:${peer.port}/`;
  t.match(await run('http', http, { inverted: true }, { timeoutMs: 60 }), { outcome: 'ok' }, 'no reply in time');
  const port = await web(t, 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n');
  const bad = await run('http', `http://127.0.0.1:${port}/`, { inverted: true });
  t.match(bad, { outcome: 'fail', code: 'inverted_answer', message: /http_status/ }, 'a bad answer is one too');
  t.match(await run('http', 'http://10.0.0.1', { inverted: true }), { outcome: 'fail', code: 'address_denied' });
});

void t.test('what is not the target’s own silence is never good', async (t) => {
  const base = { total: 1, phases: {} } as const;
  const kept: readonly CheckOutcome[] = [
    { ...base, outcome: 'timeout', source: 'resolver', code: 'dns_timeout' },
    { ...base, outcome: 'fail', source: 'resolver', code: 'dns_servfail' },
    { ...base, outcome: 'probe_error', source: 'probe', code: 'probe_internal' },
    { ...base, outcome: 'skipped', source: 'probe', code: 'cancelled' },
    { ...base, outcome: 'fail', source: 'target', code: 'target_invalid' },
  ];
  for (const outcome of kept) t.equal(inverted(outcome), outcome, outcome.code ?? '');
  const began = {
    total: 1,
    phases: { first_byte: 5 },
    outcome: 'timeout',
    source: 'target',
    code: 'http_timeout',
  } as const;
  t.match(inverted(began), { code: 'inverted_answer' }, 'an answer that began is one');
  const silent = inverted({
    ...base,
    outcome: 'timeout',
    source: 'target',
    code: 'connect_timeout',
    evidence: { address: '8.8.8.8' },
  });
  t.equal(silent.outcome, 'ok');
  t.ok(dependsOnUplink(silent), 'and a lost uplink would explain it');
});

void t.test('every address of a name is checked, and a bad one is named', async (t) => {
  const peer = await listenRaw((socket) => socket.resume());
  t.teardown(peer.stop);
  const url = `many.test:${peer.port}`;
  const resolver = named({ 4: ['127.0.0.1', '127.0.0.2', '127.0.0.3'], 6: [] });
  const one = await run('tcp', url, {}, { resolver });
  t.match(one, { outcome: 'ok' }, 'a plain check looks at the first');
  const partial = await run('tcp', url, { all_addresses: true }, { resolver });
  t.match(partial, {
    outcome: 'slow',
    code: 'address_partial',
    message: /^2 of 3 addresses of the name are bad: 127\.0\.0\.2 \(connect_refused\), 127\.0\.0\.3/,
    evidence: {
      address: '127.0.0.2',
      details: { addresses: 3, bad_addresses: '127.0.0.2, 127.0.0.3', bad_code: 'connect_refused' },
    },
  });
  t.ok(Number.isSafeInteger(partial.total) && partial.total > 0);
  const failing = { all_addresses: true, bad_address_severity: 'fail' };
  t.match(await run('tcp', url, failing, { resolver }), { outcome: 'fail', source: 'target', code: 'address_partial' });
  const gone = { resolver: named({ 4: ['127.0.0.2', '127.0.0.3'], 6: [] }) };
  t.match(await run('tcp', url, failing, gone), { outcome: 'fail', code: 'connect_refused', message: /^None of 2/ });
  t.match(await run('tcp', url, failing, { resolver: named({ 4: [], 6: [] }) }), {
    outcome: 'fail',
    code: 'dns_no_answer',
  });
  t.match(await run('tcp', `127.0.0.1:${peer.port}`, failing), { outcome: 'ok' }, 'an address is its own name');
});

void t.test('both families are looked at, at most sixteen addresses in all, each judged by the policy', async (t) => {
  const v4 = Array.from({ length: 30 }, (_none, index) => `10.0.0.${index + 1}`);
  const v6 = ['2001:db8::1', '::1'];
  const resolver = named({ 4: v4, 6: v6 });
  const judged = new Set<string>();
  const policy = createAddressPolicy({ allowedPrivate: [] });
  const addresses = {
    ...policy,
    judge: (address: string, port: number) => (judged.add(address), policy.judge(address, port)),
  };
  const outcome = await run('tcp', 'many.test:80', { all_addresses: true }, { resolver, addresses });
  t.match(outcome, { outcome: 'fail', code: 'address_denied' });
  t.equal(judged.size, maxAddresses);
  t.ok(v6.every((address) => judged.has(address)));
  t.same(resolver.asked, ['many.test 4', 'many.test 6'], 'the name is resolved once');
});

void t.test('the deadline holds for all addresses together', async (t) => {
  const silent = createServer((socket) => socket.resume());
  const peer = await listen(silent, '0.0.0.0');
  t.teardown(peer.stop);
  const resolver = named({ 4: ['127.0.0.1', '127.0.0.2', '127.0.0.3'], 6: [] });
  const timeoutMs = 80;
  const settings = { all_addresses: true, expect: 'never' };
  const { result, late } = await lateness(timeoutMs, () =>
    run('tcp', `many.test:${peer.port}`, settings, { resolver, timeoutMs }),
  );
  t.match(result, { outcome: 'timeout', code: 'response_timeout', message: /^None of 3/ });
  t.ok(late < 900);
  await until(() => peer.connections.size === 0, 'no connection is left');
});

void t.test('a page that stands in for another fails where that is asked for', async (t) => {
  const port = await web(t, page('<title>example.com</title><h1>This domain is for sale</h1>'));
  const url = `http://127.0.0.1:${port}/`;
  t.match(await run('http', url, {}), { outcome: 'ok' });
  const found = await run('http', url, { detect_stub_pages: true });
  t.match(found, { outcome: 'fail', source: 'target', code: 'page_for_sale', message: /This domain is for sale/ });
});
