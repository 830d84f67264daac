import { createSocket } from 'node:dgram';
import { type Answer, decode, encode } from 'dns-packet';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { dnsbl } from './dnsbl.ts';
import { readAnswers } from './dnsbl/lists.ts';
import { createResolver } from './net/resolve.ts';
import { runCheck } from './run.ts';
import { testContext } from './testing/context.ts';

/** A name server with the entries of some lists. `A` is an address, other text a reason. */
const entries: Record<string, readonly string[]> = {
  '2.2.0.192.good.test': ['127.0.0.2', 'https://good.test/?2 is a test.'],
  '2.2.0.192.other.test': ['127.0.0.4', 'spam seen'],
  '2.2.0.192.dynamic.test': ['127.0.0.10'],
  '2.2.0.192.refusing.test': ['127.255.255.254'],
  '2.2.0.192.busy.test': ['127.255.255.255'],
  '2.2.0.192.parked.test': ['203.0.113.9'],
  '2.2.0.192.everything.test': ['127.0.0.2'],
  '1.0.0.127.everything.test': ['127.0.0.2'],
  '2.2.0.192.s3cret.keyed.test': ['127.0.0.2', 'see s3cret.keyed.test'],
  '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.good.test': ['127.0.0.6'],
  'evil.co.uk.domains.test': ['127.0.1.2', 'phish\u0007ing'],
};

/** The entries that every list has (RFC 5782, 5), and lists that have them. */
const testEntries = ['2.0.0.127', '2.0.0.0.0.0.f.7.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0', 'test'];
const alive = ['good.test', 'other.test', 'clean.test', 'dynamic.test', 'domains.test', 's3cret.keyed.test'];
for (const zone of alive) for (const entry of testEntries) entries[`${entry}.${zone}`] = ['127.0.0.2'];

async function nameServer(t: Test) {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (bytes, from) => {
    const query = decode(bytes);
    const question = query.questions?.[0];
    if (question === undefined || query.id === undefined) return;
    const name = question.name.toLowerCase();
    asked.push(`${question.type} ${name}`);
    if (name.endsWith('silent.test')) return;
    const found = entries[name] ?? [];
    const answers = found.flatMap((text): Answer[] => {
      const isAddress = /^[\d.]+$/.test(text);
      if (question.type === 'A' && isAddress) return [{ type: 'A', name, ttl: 60, data: text }];
      return question.type === 'TXT' && !isAddress ? [{ type: 'TXT', name, ttl: 60, data: text }] : [];
    });
    const rcode = name.endsWith('broken.test') ? 2 : found.length === 0 ? 3 : 0;
    socket.send(
      encode({ type: 'response', id: query.id, flags: 0x8180 | rcode, questions: [question], answers }),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  t.teardown(() => socket.close());
  return { server: `127.0.0.1:${socket.address().port}`, asked };
}

const check = (url: string, settings: object, overrides = {}) =>
  runCheck('dnsbl', { url }, settings, testContext({ timeoutMs: 3000, ...overrides }));

void t.test('an address is looked up on each list and the listing told with its reason', async (t) => {
  const { server, asked } = await nameServer(t);
  const found = await check('192.0.2.2', { server, lists: ['good.test', 'other.test', 'clean.test'] });
  t.match(found, {
    outcome: 'fail',
    source: 'target',
    code: 'dnsbl_listed',
    message: /^192\.0\.2\.2 stands on 2 of 3 lists: good\.test \(127\.0\.0\.2, https:\/\/good\.test\/\?2 is a test\); /,
    evidence: { details: { listed: 2, clean: 1, failed: 0, 'other.test': /127\.0\.0\.4, spam seen/ } },
    phases: { dns: Number },
  });
  t.ok(asked.includes('A 1.0.0.127.good.test'), 'the list is asked for what must not be listed');
  t.match(await check('192.0.2.2', { server, lists: ['clean.test'] }), { outcome: 'ok' });
  t.match(await check('192.0.2.2', { server, lists: ['good.test', 'clean.test'], fail_listings: 2 }), {
    outcome: 'warn',
    code: 'dnsbl_listed',
  });
  t.match(await check('2001:db8::1', { server, lists: ['good.test'] }), { code: 'dnsbl_listed' });
  const whole = ['dynamic.test'];
  t.match(await check('192.0.2.2', { server, lists: whole }), { code: 'dnsbl_listed' });
  t.match(await check('192.0.2.2', { server, lists: whole, ignored_answers: ['127.0.0.10'] }), { outcome: 'ok' });
});

void t.test('a name is looked up as its registrable domain, or by its addresses', async (t) => {
  const { server, asked } = await nameServer(t);
  const found = await check('www.Evil.co.uk', { server, lists: ['domains.test'] });
  t.match(found, { code: 'dnsbl_listed', message: /evil\.co\.uk stands on 1 of 1 lists: .*phish ing/ });
  t.ok(asked.includes('A invalid.domains.test'));
  const resolver = createResolver({
    hostsPath: join(t.testdir({ hosts: '192.0.2.2 mail.example\n192.0.2.9 mail.example\n' }), 'hosts'),
  });
  t.match(await check('mail.example', { server, lists: ['good.test'], look_up: 'addresses' }, { resolver }), {
    message: /^192\.0\.2\.2 stands on 1 of 2 lists/,
  });
});

void t.test("a list's own failure is no listing", async (t) => {
  const { server } = await nameServer(t);
  const lists = ['refusing.test', 'busy.test', 'parked.test', 'everything.test', 'broken.test'];
  t.match(await check('192.0.2.2', { server, lists: [...lists, 'clean.test'] }), {
    outcome: 'ok',
    evidence: {
      details: {
        listed: 0,
        clean: 1,
        failed: 5,
        'refusing.test': /public resolver/,
        'busy.test': /too many/,
        'parked.test': /203\.0\.113\.9/,
        'everything.test': /lists everything/,
        'broken.test': /error 2/,
      },
    },
  });
  t.match(await check('192.0.2.2', { server, lists }), {
    outcome: 'fail',
    source: 'target',
    code: 'dnsbl_unavailable',
  });
  t.match(await check('192.0.2.2', { server, lists: [...lists, 'clean.test'], min_answered: 2 }), {
    code: 'dnsbl_unavailable',
  });
  const silent = { server, lists: ['silent.test', 'good.test'] };
  t.match(await check('192.0.2.2', silent, { timeoutMs: 300 }), {
    code: 'dnsbl_listed',
    evidence: { details: { 'silent.test': /in time/ }, listings: { 'silent.test': 'error' } },
  });
  t.match(await check('192.0.2.2', { server, lists: ['silent.test'] }, { timeoutMs: 300 }), {
    outcome: 'timeout',
    code: 'dnsbl_unavailable',
  });
});

void t.test('a list that does not answer its test entry is unknown, not clean, and the trace says why', async (t) => {
  const { server, asked } = await nameServer(t);
  const traced: string[] = [];
  const trace = (_step: string, detail: string) => traced.push(detail);
  let nowMs = performance.now();
  const overrides = { trace, clock: () => nowMs };
  const lists = ['clean.test', 'dead.test'];
  const look = () => check('192.0.2.9', { server, lists }, overrides);
  t.match(await look(), {
    outcome: 'ok',
    evidence: {
      details: { listed: 0, clean: 1, failed: 1, 'dead.test': /does not answer its own test entry/ },
      listings: { 'clean.test': 'clean', 'dead.test': 'error' },
    },
  });
  t.match(traced.join('\n'), /^192\.0\.2\.9: dead\.test does not answer its own test entry \(RFC 5782\)/m);
  t.match(traced.join('\n'), /^clean\.test answers its test entry$/m);
  t.match(await check('192.0.2.9', { server, lists: ['dead.test'] }), { code: 'dnsbl_unavailable' });
  const tests = () => asked.filter((question) => question.startsWith('A 2.0.0.127.')).sort();
  t.same(tests(), ['A 2.0.0.127.clean.test', 'A 2.0.0.127.dead.test'], 'asked through the name server that is used');
  nowMs += 240_000;
  await look();
  t.equal(tests().length, 2, 'and not at every check');
  nowMs += 3_361_000;
  await look();
  t.same(tests().filter((question) => question.includes('clean')).length, 2, 'after an hour it is asked again');
  t.match(await check('2001:db8::9', { server, lists }), {
    evidence: { listings: { 'clean.test': 'clean', 'dead.test': 'error' } },
  });
  t.match(await check('good.example', { server, lists }), {
    evidence: { listings: { 'clean.test': 'clean', 'dead.test': 'error' } },
  });
  t.ok(asked.includes('A test.clean.test'), 'of domains the entry is TEST');
  t.match(await check('192.0.2.2', { server, lists: ['everything.test', 'busy.test'] }), { code: 'dnsbl_unavailable' });
});

void t.test('the zone of a list with a key stays secret', async (t) => {
  const { server } = await nameServer(t);
  const traced: string[] = [];
  const found = await check(
    '192.0.2.2',
    { server, keyed_lists: { paid: 's3cret.keyed.test' } },
    { trace: (step: string, detail: string) => traced.push(step, detail) },
  );
  t.match(found, { code: 'dnsbl_listed', message: /paid \(127\.0\.0\.2, see paid\)/ });
  t.notMatch(JSON.stringify([found, traced]), /s3cret/);
});

void t.test('a name server is judged and must listen', async (t) => {
  t.match(await check('192.0.2.2', { server: '10.0.0.1', lists: ['good.test'] }), { code: 'address_denied' });
  t.match(await check('192.0.2.2', { server: '127.0.0.1:9', lists: ['good.test'] }), { code: 'dnsbl_unavailable' });
});

void t.test('what the answers of lists mean', async (t) => {
  t.same(readAnswers([], []), { kind: 'clean' });
  t.same(readAnswers(['127.0.0.3', '127.0.0.10'], ['127.0.0.10']), { kind: 'listed', codes: ['127.0.0.3'] });
  for (const code of [0, 1, 250, 252, 253, 254, 255]
    .map((last) => `127.255.255.${last}`)
    .concat('127.0.0.1', '10.1.1.1'))
    t.match(readAnswers([code], []), { kind: 'failed', reason: code });
});

void t.test('what can be neither an address nor a domain is no target', async (t) => {
  for (const url of ['--help', '$(id)', '`id`', 'localhost', '-a.test', 'a-.test', 'a b.test'])
    t.type(dnsbl.validateTarget({ url }), 'string', url);
  for (const url of ['127.0.0.2', '[::1]', '_a.b-c.test', 'xn--bcher-kva.example', 'EXAMPLE.com.'])
    t.equal(dnsbl.validateTarget({ url }), undefined, url);
});
