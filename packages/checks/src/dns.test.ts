import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { type Answer, decode, encode, streamEncode } from 'dns-packet';
import dns2 from 'dns2';
import t from 'tap';
import { dns } from './dns.ts';
import { normaliseValue, reverseName } from './dns/records.ts';
import { runCheck } from './run.ts';
import { listen, testContext } from './testing/context.ts';

const { Packet } = dns2;
type Record = { readonly name: string; readonly type: number; readonly class: number; readonly ttl: number } & object;

const zone: { readonly [name: string]: readonly object[] } = {
  'A www.test': [{ address: '10.0.0.2' }, { address: '10.0.0.1' }],
  'AAAA www.test': [{ address: 'fd00:0:0::1' }],
  'MX www.test': [{ exchange: 'Mail.test', priority: 10 }],
  'TXT www.test': [{ data: 'v=spf1 -all' }],
  'CNAME alias.test': [{ domain: 'www.test' }],
  'NS www.test': [{ ns: 'ns1.test' }],
};
const typeName = (type: number) => Object.entries(Packet.TYPE).find(([, number]) => number === type)?.[0] ?? '';

/** A name server of the library dns2, over UDP. */
async function nameServer() {
  const server = dns2.createServer({
    udp: true,
    handle: (request, send) => {
      const response = Packet.createResponseFromRequest(request);
      const question = request.questions[0];
      const name = question?.name.toLowerCase() ?? '';
      const type = question && 'type' in question ? question.type : 0;
      if (name === 'absent.test') response.header.rcode = 3;
      if (name === 'broken.test') response.header.rcode = 2;
      for (const each of zone[`${typeName(type)} ${name}`] ?? []) {
        response.answers.push({ name, type, class: Packet.CLASS.IN, ttl: 60, ...each } as Record as never);
      }
      void send(response);
    },
  });
  const addresses = await server.listen({ udp: { port: 0, address: '127.0.0.1' } });
  const { udp } = addresses as unknown as { udp: { port: number } };
  return { server: `127.0.0.1:${udp.port}`, stop: () => server.close() };
}

const check = (url: string, settings: object, overrides = {}) =>
  runCheck('dns', { url }, settings, testContext(overrides));

void t.test('records of a real name server', async (t) => {
  const { server, stop } = await nameServer();
  t.teardown(stop);
  t.match(await check('www.test', { server }), {
    outcome: 'ok',
    phases: { dns: Number },
    evidence: { address: '127.0.0.1', rcode: 'NOERROR', answers: ['10.0.0.1', '10.0.0.2'] },
  });
  const good: Array<[string, object]> = [
    ['WWW.test.', { expected_values: ['10.0.0.1'] }],
    ['www.test', { expected_values: ['10.0.0.2', '10.0.0.1'], match: 'exact' }],
    ['www.test', { expected_values: ['10.0.0.2', '1.1.1.1'], match: 'any' }],
    ['www.test', { record_type: 'AAAA', expected_values: ['FD00::1'] }],
    ['www.test', { record_type: 'MX', expected_values: ['10 mail.test.'] }],
    ['www.test', { record_type: 'TXT', expected_values: ['"v=spf1 -all"'] }],
    ['www.test', { record_type: 'NS', expected_values: ['NS1.test'] }],
    ['alias.test', { record_type: 'CNAME', expected_values: ['www.test.'] }],
    ['absent.test', { expected_rcode: 'NXDOMAIN' }],
  ];
  for (const [name, settings] of good)
    t.match(await check(name, { server, ...settings }), { outcome: 'ok' }, `${name} ${JSON.stringify(settings)}`);
  const bad: Array<[string, object, string]> = [
    ['www.test', { expected_values: ['10.0.0.3'] }, 'dns_wrong_answer'],
    ['www.test', { expected_values: ['10.0.0.1', '10.0.0.3'] }, 'dns_wrong_answer'],
    ['www.test', { expected_values: ['10.0.0.1'], match: 'exact' }, 'dns_wrong_answer'],
    ['www.test', { expected_values: ['1.1.1.1'], match: 'any' }, 'dns_wrong_answer'],
    ['www.test', { record_type: 'CAA' }, 'dns_no_answer'],
    ['absent.test', {}, 'dns_nxdomain'],
    ['broken.test', {}, 'dns_servfail'],
    ['www.test', { expected_rcode: 'NXDOMAIN' }, 'dns_wrong_rcode'],
    ['broken.test', { expected_rcode: 'NXDOMAIN' }, 'dns_wrong_rcode'],
  ];
  for (const [name, settings, code] of bad) {
    t.match(
      await check(name, { server, ...settings }),
      { outcome: 'fail', source: 'target', code },
      `${name} ${JSON.stringify(settings)}`,
    );
  }
});

/** A name server that does with each question what the script says, over UDP and TCP on one port. */
async function scripted(
  udp: (query: Buffer, reply: (answer: Buffer) => void) => void,
  tcp: (query: Buffer) => Buffer[] = () => [],
) {
  const stream = await listen(
    createServer((socket) => {
      socket.on('data', (piece) => {
        for (const part of tcp(piece.subarray(2))) socket.write(part);
      });
    }),
  );
  const socket = createSocket('udp4');
  socket.on('message', (bytes, from) => udp(bytes, (answer) => socket.send(answer, from.port, from.address)));
  await new Promise<void>((resolve) => {
    socket.bind(stream.port, '127.0.0.1', resolve);
  });
  const stop = async () => {
    socket.close();
    await stream.stop();
  };
  return { server: `127.0.0.1:${stream.port}`, stop };
}

function answerTo(query: Buffer, data: string, changes: { id?: number; name?: string; flags?: number } = {}) {
  const { id = 0, questions = [] } = decode(query);
  const name = changes.name ?? questions[0]?.name ?? '';
  const answers: Answer[] = [{ type: 'A', name, data, ttl: 1 }];
  return {
    type: 'response' as const,
    id: changes.id ?? id,
    flags: changes.flags ?? 0,
    questions: questions.map((each) => ({ ...each, name })),
    answers,
  };
}

void t.test('an answer that was cut is asked for again over TCP', async (t) => {
  const cut = await scripted(
    (query, reply) => reply(encode(answerTo(query, '10.0.0.1', { flags: 512 }))),
    (query) => {
      const whole = streamEncode(answerTo(query, '10.0.0.7'));
      return [whole.subarray(0, 1), whole.subarray(1, 5), whole.subarray(5)];
    },
  );
  t.teardown(cut.stop);
  t.match(await check('www.test', { server: cut.server }), { outcome: 'ok', evidence: { answers: ['10.0.0.7'] } });
});

void t.test('answers to other questions are passed over', async (t) => {
  const forged = await scripted((query, reply) => {
    const { id = 0 } = decode(query);
    reply(Buffer.from('garbage'));
    reply(encode(answerTo(query, '6.6.6.6', { id: id ^ 1 })));
    reply(encode(answerTo(query, '6.6.6.6', { name: 'evil.test' })));
    reply(encode(answerTo(query, '10.0.0.1')));
  });
  t.teardown(forged.stop);
  t.match(await check('www.test', { server: forged.server }), { outcome: 'ok', evidence: { answers: ['10.0.0.1'] } });
});

void t.test('a lost packet is sent again, silence is a timeout, a closed port refuses', async (t) => {
  let seen = 0;
  const lossy = await scripted((query, reply) => {
    seen += 1;
    if (seen > 1) reply(encode(answerTo(query, '10.0.0.1')));
  });
  t.match(await check('www.test', { server: lossy.server }, { timeoutMs: 900 }), { outcome: 'ok' });
  await lossy.stop();
  t.match(await check('www.test', { server: lossy.server }), {
    outcome: 'fail',
    code: 'connect_refused',
    source: 'target',
  });
  const silent = await scripted(() => undefined);
  const babbling = await scripted((_query, reply) => reply(Buffer.alloc(40, 0xff)));
  t.teardown(silent.stop);
  t.teardown(babbling.stop);
  t.match(await check('www.test', { server: silent.server }, { timeoutMs: 100 }), {
    outcome: 'timeout',
    code: 'dns_timeout',
    source: 'target',
  });
  t.match(await check('www.test', { server: babbling.server }, { timeoutMs: 100 }), {
    outcome: 'fail',
    code: 'dns_wrong_answer',
  });
});

void t.test('a name server that the customer names is judged', async (t) => {
  for (const server of ['10.0.0.1', '169.254.169.254:53', '2852039166', '[fd00::1]:53', 'localhost:25']) {
    t.match(await check('www.test', { server }), { outcome: 'fail', code: 'address_denied' }, server);
  }
});

const settings = (all: object = {}) => dns.settings().parse(all);

void t.test('names, addresses and values are read in the forms that people write', async (t) => {
  t.equal(dns.validateTarget({ url: 'dns://example.com' }, settings()), undefined);
  t.equal(dns.validateTarget({ url: '_dmarc.example.com' }, settings()), undefined);
  t.equal(dns.validateTarget({ url: '8.8.8.8' }, settings({ record_type: 'PTR' })), undefined);
  for (const url of ['', '8.8.8.8', 'a b', 'example.com:53', 'http://example.com'])
    t.type(dns.validateTarget({ url }, settings()), 'string', url);
  t.equal(reverseName('8.8.4.1'), '1.4.8.8.in-addr.arpa');
  t.match(reverseName('2001:db8::1'), /^1(\.0){23}\.8\.b\.d\.0\.1\.0\.0\.2\.ip6\.arpa$/);
  t.equal(normaliseValue('0 issue "Letsencrypt.org"', 'CAA'), '0 issue "Letsencrypt.org"');
  t.equal(normaliseValue('0  issue letsencrypt.org', 'CAA'), '0 issue "letsencrypt.org"');
  t.equal(normaliseValue('"a b" "c"', 'TXT'), 'a bc');
  t.equal(normaliseValue('"v=DKIM1\\; k=rsa\\; p=x\\"y" "z"', 'TXT'), 'v=DKIM1; k=rsa; p=x"yz', 'as dig writes it');
  t.equal(normaliseValue('"Gr\\195\\188n"', 'TXT'), 'Grün');
  t.equal(dns.settings().safeParse({ record_type: 'ANY' }).success, false);
  t.equal(dns.settings().safeParse({ server: 'a b' }).success, false);
});

/** A port that nobody else has by UDP nor by TCP, with a socket of each. */
async function oneServerPort() {
  for (;;) {
    const udp = createSocket('udp4');
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    const { port } = udp.address();
    const tcp = createServer();
    const isOurs = await new Promise<boolean>((resolve) => {
      tcp.once('error', () => resolve(false));
      tcp.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (isOurs) return { udp, tcp, port };
    udp.close();
  }
}

void t.test(
  'a server from before EDNS is asked again without, and an answer that was cut anywhere over TCP',
  async (t) => {
    const answers: Answer[] = [{ type: 'A', name: 'old.test', ttl: 1, data: '192.0.2.7' }];
    const { udp, tcp, port } = await oneServerPort();
    t.teardown(() => {
      udp.close();
      tcp.close();
    });
    udp.on('message', (query, from) => {
      const { id, questions = [], additionals = [] } = decode(query);
      const say = (bytes: Uint8Array) => udp.send(bytes, from.port, from.address);
      if (questions[0]?.name === 'cut.test') {
        const whole = encode({ type: 'response', id, flags: 0x200, questions, answers });
        return say(whole.subarray(0, whole.length - 3));
      }
      if (additionals.length > 0) return say(encode({ type: 'response', id, flags: 1, questions }));
      return say(encode({ type: 'response', id, questions, answers }));
    });
    tcp.on('connection', (socket) => {
      socket.on('data', (query: Buffer) => {
        const { id, questions = [] } = decode(query.subarray(2));
        socket.write(streamEncode({ type: 'response', id, questions, answers }));
      });
    });
    const settings = { server: `127.0.0.1:${port}`, expected_values: ['192.0.2.7'] };
    t.match(await check('old.test', settings), { outcome: 'ok', evidence: { details: { transport: 'udp' } } });
    t.match(await check('cut.test', settings), { outcome: 'ok', evidence: { details: { transport: 'tcp' } } });
  },
);
