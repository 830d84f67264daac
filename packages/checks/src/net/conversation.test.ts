import t from 'tap';
import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { issue } from '../testing/certificates.ts';
import { listenRaw, testContext } from '../testing/context.ts';
import { addressFields, directTls, loginFields, tlsFields } from './connection-settings.ts';
import { conversation, readAddress, type TargetForm } from './conversation.ts';
import { lineReader } from './lines.ts';

const mail: TargetForm = { plain: { imap: 143 }, secure: { imaps: 993 }, implicitPorts: [993] };
const broker: TargetForm = { plain: { nats: 4222 }, secure: { tls: 4222 }, secureBy: 'starttls' };

void t.test('a target and the setting say together where TLS begins', async (t) => {
  const cases = [
    ['a', mail, 'auto', { host: 'a', port: 143, tls: 'auto' }],
    ['a:993', mail, 'auto', { port: 993, tls: 'implicit' }],
    ['a:993', mail, 'none', { port: 993, tls: 'none' }],
    ['a', mail, 'implicit', { port: 993, tls: 'implicit' }],
    ['a:1', mail, 'implicit', { port: 1, tls: 'implicit' }],
    ['imap://a', mail, 'implicit', { port: 143, tls: 'implicit' }],
    [' IMAPS://a/ ', mail, 'auto', { port: 993, tls: 'implicit' }],
    ['imaps://a:1', mail, 'none', { port: 1, tls: 'implicit' }],
    ['a', broker, 'starttls', { port: 4222, tls: 'starttls' }],
    ['tls://a', broker, 'auto', { port: 4222, tls: 'starttls' }],
    ['tls://a', broker, 'implicit', { port: 4222, tls: 'implicit' }],
    ['[::1]', { plain: {}, defaultPort: 7 }, 'none', { host: '[::1]', port: 7 }],
  ] as const;
  for (const [url, form, tls, expected] of cases) t.match(readAddress(url, form, tls), expected, `${url} ${tls}`);
  for (const url of ['imap://a/box', 'imap://a?x', 'a,b', 'imap://u@a', 'smtp://a', 'a b', '', 'a:0'])
    t.type(readAddress(url, mail, 'auto'), 'string', url);
  t.match(readAddress('imaps://a', mail, 'starttls'), /starttls/);
});

const echoSettings = lazily(() =>
  z.strictObject({
    ...addressFields(),
    ...directTls(),
    ...tlsFields(),
    ...loginFields(),
    token: z.string().optional(),
    open: z.string().optional(),
  }),
);

const type = conversation({
  type: 'echo',
  summary: 'A server that says one line',
  reference: { targets: ['a.example:7'], phases: ['dns'], details: {} },
  settings: echoSettings,
  secretFields: ['token'],
  wellKnown: ['everybody'],
  peer: 'an echo',
  codes: 'broker_protocol',
  target: { plain: { echo: 7 }, secure: { echos: 7777 } },
  problem: (to, { open }) => (open === undefined || to.tls !== 'none' ? undefined : 'Not in the clear.'),
  talk: async (session, settings) => {
    await session.open();
    session.note('answer', await session.hear('a line', lineReader('broker_protocol')));
    session.note('open', settings.open ?? '');
  },
});

void t.test('a type is its settings, its targets and its protocol; the rest is added', async (t) => {
  t.match(type, { type: 'echo', requires: [], cheap: true });
  t.same([...type.secretFields].sort(), ['client_key', 'password', 'token']);
  const defaults = type.settings().parse({});
  t.match(defaults, { tls: 'none', verify_tls: true, warn_days_before_expiry: 14 });
  t.equal(type.validateTarget({ url: 'echo://a' }, defaults), undefined);
  t.type(type.validateTarget({ url: 'a b' }, defaults), 'string');
  t.equal(type.validateTarget({ url: 'a' }, { ...defaults, open: 'x' }), 'Not in the clear.');
  const peer = await listenRaw((socket) => void socket.write('correct horse token-1 open-1\r\n'));
  t.teardown(peer.stop);
  const settings = { ...defaults, password: 'correct horse', token: 'token-1', open: 'open-1' };
  t.match(await type.run({ url: `127.0.0.1:${peer.port}` }, settings, testContext()), {
    outcome: 'ok',
    evidence: { details: { answer: '[redacted] [redacted] open-1', open: 'open-1' } },
  });
  const open = await listenRaw((socket) => void socket.write('everybody\r\n'));
  t.teardown(open.stop);
  t.match(
    await type.run({ url: `127.0.0.1:${open.port}` }, { ...defaults, token: 'everybody' }, testContext()),
    { evidence: { details: { answer: 'everybody' } } },
    'what everybody knows is no secret',
  );
  await t.rejects(type.run({ url: 'a b' }, defaults, testContext()), /not validated/);
});

void t.test('a client certificate and its key have to belong together', async (t) => {
  const [one, other] = await Promise.all([issue({ name: 'one' }), issue({ name: 'other' })]);
  const read = (settings: object) => type.settings().safeParse(settings).success;
  t.equal(read({ client_certificate: one.cert, client_key: one.key }), true);
  t.equal(read({ client_certificate: one.cert, client_key: other.key }), false);
  t.equal(read({ client_certificate: one.cert }), false);
  t.equal(read({ client_key: one.key }), false);
  t.equal(read({ client_certificate: 'PEM', client_key: one.key }), false);
  t.equal(read({ server_name: '127.0.0.1' }), false);
  t.equal(read({ tls: 'starttls' }), false);
});
