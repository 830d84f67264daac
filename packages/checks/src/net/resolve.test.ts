import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { lateness } from '@parallax/testkit/time-taken';
import t from 'tap';
import { createNameServers } from './name-servers.ts';
import { createResolver, sortAddresses } from './resolve.ts';
import { parseHosts } from './hosts-file.ts';

type Reply = { readonly rcode?: number; readonly answers?: readonly Answer[] } | 'silence';
const asked: string[] = [];

/** A name server that answers by a script. */
async function nameServer(script: Record<string, Reply>) {
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => {
    const query = decode(bytes);
    const question = query.questions?.[0];
    if (question === undefined) return;
    asked.push(`${question.type} ${question.name}`);
    const reply = script[`${question.type} ${question.name.toLowerCase()}`] ?? { rcode: 3 };
    if (reply === 'silence') return;
    const flags = RECURSION_DESIRED | 128 | (reply.rcode ?? 0);
    socket.send(
      encode({
        type: 'response',
        id: query.id ?? 0,
        flags,
        questions: [question],
        answers: [...(reply.answers ?? [])],
      }),
      from.port,
      from.address,
    );
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  return { address: `127.0.0.1:${socket.address().port}`, stop: () => socket.close() };
}

const a = (name: string, data: string): Answer => ({ type: 'A', name, data, ttl: 60 });
const aaaa = (name: string, data: string): Answer => ({ type: 'AAAA', name, data, ttl: 60 });
const { signal } = new AbortController();

void t.test('answers of name servers', async (t) => {
  const server = await nameServer({
    'A both.test': { answers: [a('both.test', '10.0.0.10'), a('both.test', '10.0.0.9')] },
    'AAAA both.test': { answers: [aaaa('both.test', 'fd00::1')] },
    'A six.test': {},
    'AAAA six.test': { answers: [aaaa('six.test', 'fd00::2'), aaaa('six.test', 'fd00::1')] },
    'A none.test': {},
    'AAAA none.test': {},
    'A broken.test': { rcode: 2 },
    'A refused.test': { rcode: 5 },
    'A silent.test': 'silence',
    'A after.test': { answers: [a('after.test', '10.0.0.1')] },
  });
  t.teardown(server.stop);
  const hostsPath = join(
    t.testdir({ hosts: '127.0.0.1 localhost\n10.9.9.9 Listed.test alias # comment\nfd00::9 listed.test\n' }),
    'hosts',
  );
  const resolver = createResolver({ servers: [server.address], hostsPath, hasIpv4: true });
  const resolve = (host: string, family?: 4 | 6, deadlineMs = 2000) =>
    resolver.resolve(host, { family, signal, deadlineMs });

  t.match(
    await resolve('both.test'),
    { ok: true, addresses: ['10.0.0.9', '10.0.0.10'] },
    'sorted by number, IPv4 alone',
  );
  t.match(await resolve('BOTH.test.', 6), { ok: true, addresses: ['fd00::1'] }, 'the family that is asked for');
  t.match(await resolve('six.test'), { ok: true, addresses: ['fd00::1', 'fd00::2'] }, 'IPv6 where there is no IPv4');
  t.match(await resolve('six.test', 4), { ok: false, failure: { code: 'address_family_missing', source: 'target' } });
  t.match(await resolve('none.test'), {
    ok: false,
    failure: { code: 'dns_no_answer', outcome: 'fail', source: 'target' },
  });
  t.match(await resolve('absent.test'), {
    ok: false,
    failure: { code: 'dns_nxdomain', outcome: 'fail', source: 'target' },
  });
  t.match(await resolve('broken.test'), { ok: false, failure: { code: 'dns_servfail', source: 'resolver' } });
  t.match(await resolve('refused.test'), { ok: false, failure: { code: 'dns_refused', source: 'resolver' } });

  t.match(await resolve('listed.test'), { ok: true, addresses: ['10.9.9.9', 'fd00::9'] }, 'the hosts file goes first');
  t.match(await resolve('alias', 6), { ok: false, failure: { code: 'address_family_missing' } });
  t.match(await resolve('localhost'), { ok: true, addresses: ['127.0.0.1'] });
  t.match(
    await resolve('app.localhost'),
    { ok: true, addresses: ['127.0.0.1', '::1'] },
    'names below localhost are this machine',
  );
  t.match(await resolve('0x7f.1'), { ok: true, addresses: ['127.0.0.1'] }, 'odd spellings are addresses, not names');
  t.match(await resolve('[::1]', 4), { ok: false, failure: { code: 'address_family_missing' } });
  t.match(await resolve('a b'), { ok: false, failure: { code: 'dns_nxdomain' } });

  asked.length = 0;
  await resolve('absent');
  t.same(asked, ['A absent'], 'no search domain is applied, and a name that does not exist is asked for once');
  asked.length = 0;
  await resolve('both.test');
  await resolve('both.test');
  t.same(asked, ['A both.test', 'A both.test'], 'nothing is cached');

  const abandoned = await lateness(150, () => resolve('silent.test', undefined, 100));
  t.match(abandoned.result, {
    ok: false,
    failure: { code: 'dns_timeout', outcome: 'timeout', source: 'resolver' },
  });
  t.ok(abandoned.late < 0, 'the deadline is hard');
  const controller = new AbortController();
  const silent = resolver.resolve('silent.test', { signal: controller.signal, deadlineMs: 5000 });
  controller.abort();
  t.match(await silent, { ok: false, failure: { code: 'dns_timeout' } }, 'an abort ends it');
  t.match(await resolve('after.test'), { ok: true }, 'an abandoned question spoils no other');

  writeFileSync(hostsPath, '10.1.1.1 listed.test\n');
  let now = 0;
  const watching = createResolver({ servers: [server.address], hostsPath, hasIpv4: true, clock: () => now });
  t.match(await watching.resolve('listed.test', { signal, deadlineMs: 100 }), { addresses: ['10.1.1.1'] });
  writeFileSync(hostsPath, '10.1.1.22 listed.test\n');
  now = 10_000;
  t.match(
    await watching.resolve('listed.test', { signal, deadlineMs: 100 }),
    { addresses: ['10.1.1.22'] },
    'a change is seen within 10 s',
  );
});

void t.test('an abandoned question is not asked again', async (t) => {
  const server = await nameServer({ 'A silent.test': 'silence' });
  t.teardown(server.stop);
  const ask = async (timeoutMs: number) => {
    asked.length = 0;
    const servers = createNameServers({ clock: () => performance.now(), servers: [server.address], tryTimeoutMs: 50 });
    await servers.query('silent.test', 4, { signal, timeoutMs });
    await new Promise((resolve) => setTimeout(resolve, 300));
    return asked.length;
  };
  t.equal(await ask(20), 1);
  t.ok((await ask(1000)) > 1, 'while one that is waited for is');
});

void t.test('a name server that is not there is the fault of the resolver', async (t) => {
  const gone = await nameServer({});
  gone.stop();
  const resolver = createResolver({ servers: [gone.address], hostsPath: '/nonexistent' });
  t.match(await resolver.resolve('x.test', { signal, deadlineMs: 3000 }), {
    ok: false,
    failure: { source: 'resolver' },
  });
});

void t.test('the order of addresses is fixed and begins with the preferred family', async (t) => {
  t.same(sortAddresses(['fd00::1', '10.0.0.2', '9.0.0.1'], 4), ['9.0.0.1', '10.0.0.2', 'fd00::1']);
  t.same(sortAddresses(['10.0.0.2', 'fd00::2', 'fd00::1'], 6), ['fd00::1', 'fd00::2', '10.0.0.2']);
});

void t.test('a hosts file is read leniently', async (t) => {
  t.same(
    [...parseHosts('# c\n\n127.0.0.1\tA b\r\n::1 a\nnonsense x\n127.0.0.1 a\n')],
    [
      ['a', ['127.0.0.1', '::1']],
      ['b', ['127.0.0.1']],
    ],
  );
});
