import { generateKeyPairSync } from 'node:crypto';
import type { Socket } from 'node:net';
import t from 'tap';
import { type Protocol, protocols, secretFieldsOf, settingsSchema } from './registry.ts';
import { runCheck } from './run.ts';
import { issue } from './testing/certificates.ts';
import { testContext } from './testing/context.ts';
import { openPeer } from './testing/hostile-peers.ts';
import { pointedAt } from './testing/pointed-at.ts';

/** A secret with characters that base64, URLs, JSON and quotes all write differently. */
const mark = (name: string) => `Marked-${name}+/"\\ &='%end`;
const hexMark = 'c0ffee0badc0de0123456789abcdef42';
const seed = 'SUAGMJH5XLGZKQQWAWKRZJIGMOU4HPFUYLXJMXOO5NLFEO2OOQJ5LPRDPM';
const zone = 'marked0key0of0a0list';
const username = 'watcher';
const password = mark('password');
const client = await issue({ name: 'client' });
const privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'sec1', format: 'pem' })
  .toString();

/** Settings with secrets in them; together those of a type set all of its secret fields. */
type Secrets = (port: number) => Record<string, unknown>;
const login: Secrets = () => ({ username, password });
const keyPair: Secrets = () => ({ client_certificate: client.cert, client_key: client.key });
const byProxy: Secrets = (port) => ({ proxy: `http://watcher@127.0.0.1:${port}`, proxy_password: mark('proxy') });
const webSecrets: readonly Secrets[] = [
  login,
  () => ({ bearer_token: 'Marked-token-0123456789' }),
  () => ({ secret_headers: { 'x-key': mark('header'), authorization: 'Token Marked-in-a-header' } }),
];
const shellSecrets: readonly Secrets[] = [
  login,
  () => ({ username, private_key: privateKey, passphrase: mark('passphrase') }),
];
const bySecrets: Partial<Record<Protocol, readonly Secrets[]>> = {
  http: [
    ...webSecrets,
    () => ({ username, password, auth_scheme: 'digest' }),
    (port) => ({
      token_url: `http://127.0.0.1:${port}/token`,
      client_id: 'me',
      client_secret: mark('client_secret'),
      client_authentication: 'form',
    }),
    (port) => ({ token_url: `http://127.0.0.1:${port}/token`, client_id: 'me', client_secret: mark('client_secret') }),
  ],
  https: [
    ...webSecrets,
    (port) => ({ token_url: `http://127.0.0.1:${port}/`, client_id: 'me', client_secret: mark('cs') }),
  ],
  ws: webSecrets,
  wss: webSecrets,
  grpc: webSecrets,
  nats: [
    login,
    () => ({ token: mark('token') }),
    () => ({ nkey_seed: seed }),
    () => ({ nkey_seed: seed, jwt: 'Marked.header.Marked-jwt-0123456789' }),
  ],
  dnsbl: [() => ({ keyed_lists: { mine: `${zone}.list.test` } })],
  snmp: [
    () => ({ version: '2c', community: mark('community') }),
    () => ({
      version: '3',
      username,
      auth_protocol: 'sha256',
      auth_password: mark('auth'),
      priv_protocol: 'aes',
      priv_password: mark('priv'),
    }),
  ],
  ssh: shellSecrets,
  sftp: shellSecrets,
  socks5: [(port) => ({ username, password, connect_to: `127.0.0.1:${port}` })],
  mtproxy: [() => ({ secret: hexMark }), () => ({ secret: `ee${hexMark}${Buffer.from('a.test').toString('hex')}` })],
  radius: [() => ({ secret: mark('shared'), username, password })],
  api: [
    () => ({
      secrets: { token: mark('token'), key: mark('key'), word: mark('word') },
      steps: [
        {
          method: 'POST',
          url: '/a/{{key}}?b={{word}}',
          headers: { authorization: 'Token {{token}}', 'x-own': '{{key}}' },
          json: { key: '{{key}}' },
          continue_on_failure: true,
        },
        { method: 'POST', url: '/b', form: { word: '{{word}}' }, continue_on_failure: true },
        { url: '/c', auth: { type: 'basic', username: 'u', password: '{{word}}' }, continue_on_failure: true },
        { method: 'POST', url: '/d', auth: { type: 'bearer', token: '{{token}}' }, body: '{{key}}' },
      ],
    }),
  ],
  ldap: [() => ({ bind_dn: 'cn=watcher', password }), login],
};
/** Where the check would not say a password in the clear. */
const inTheClear: readonly Record<string, unknown>[] = [{}, { tls: 'none' }];

/** Everything below these in the settings must never come out. */
function secretTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretTexts) : [];
}

/** The forms in which a secret could be read, none of which may occur. */
function formsOf(secret: string): readonly string[] {
  // Lines of a key are as telling as the whole.
  const parts = secret.includes('-----')
    ? secret.split('\n').filter((line) => /^[A-Za-z0-9+/=]{20,}$/.test(line))
    : [secret];
  return parts.flatMap((part) => {
    const bytes = Buffer.from(part, 'utf8');
    // In base64 a text looks different at each of three places; the characters at its edges depend on what stands beside it.
    const inBase64 = [0, 1, 2].map((before) =>
      Buffer.concat([Buffer.alloc(before), bytes])
        .toString('base64')
        .replace(/=+$/, '')
        .slice([0, 2, 3][before], -1),
    );
    return [
      part,
      JSON.stringify(part).slice(1, -1),
      encodeURIComponent(part),
      new URLSearchParams({ a: part }).toString().slice(2),
      ...inBase64,
      ...inBase64.map((each) => each.replaceAll('+', '-').replaceAll('/', '_')),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
    ];
  });
}

/** Peers that send back what they get, each in the words of some protocol. */
const peers: Readonly<
  Record<string, { readonly greeting?: string; readonly answer: (heard: Buffer) => Buffer | string }>
> = {
  'as it is': { answer: (heard) => heard },
  'in an answer of HTTP': { answer: (heard) => webAnswer('500 Oh no', 'text/plain', heard) },
  'as a header of HTTP, encoded in every way': {
    answer: (heard) => {
      const line = heard.toString('latin1').replace(/[\r\n]+/g, ' ');
      const forms = [line, heard.toString('hex'), heard.toString('base64'), encodeURIComponent(line)];
      return `HTTP/1.1 403 ${line}\r\nX-Echo: ${forms.join('\r\nX-Echo: ')}\r\nContent-Length: 0\r\n\r\n`;
    },
  },
  'in a challenge': {
    answer: (heard) => {
      const line = heard.toString('latin1').replace(/[\r\n"]+/g, ' ');
      return `HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm="${line}", nonce="abc", qop="auth"\r\nContent-Length: 0\r\n\r\n`;
    },
  },
  'as the error of a token': {
    answer: (heard) =>
      webAnswer(
        '400 Bad',
        'application/json',
        JSON.stringify({ error: 'x', error_description: heard.toString('latin1') }),
      ),
  },
  'in lines of SMTP and FTP': { greeting: '220 hello\r\n', answer: (heard) => linesOf(heard, numbered) },
  'in lines of POP3': {
    greeting: '+OK hello\r\n',
    answer: (heard) => linesOf(heard, (line) => (/^(USER|CAPA)/.test(line) ? `+OK ${line}` : `-ERR ${line}`)),
  },
  'in lines of IMAP': {
    greeting: '* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR] hello\r\n',
    answer: (heard) => linesOf(heard, (line) => `${line.split(' ')[0]} NO ${line}`),
  },
  'in lines of NATS': {
    greeting: 'INFO {"server_id":"a","version":"2","max_payload":1000,"nonce":"abcdef"}\r\n',
    answer: (heard) => linesOf(heard, (line) => `-ERR '${line}'`),
  },
  'as an error of Redis': { answer: (heard) => `-ERR ${heard.toString('utf8').replace(/[\r\n]+/g, ' ')}\r\n` },
  'as an error of PostgreSQL': {
    answer: (heard) => {
      if (heard.length === 8) return 'N';
      if (heard[0] !== 0x70) return Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]);
      const fields = Buffer.concat([Buffer.from('SFATAL\0C28P01\0M'), heard.subarray(5), Buffer.from('\0\0')]);
      const head = Buffer.from([0x45, 0, 0, 0, 0]);
      head.writeUInt32BE(fields.length + 4, 1);
      return Buffer.concat([head, fields]);
    },
  },
};

function webAnswer(status: string, type: string, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  const hex = Buffer.from(`\n${bytes.toString('hex')}\n${bytes.toString('base64')}`);
  const whole = type === 'text/plain' ? Buffer.concat([bytes, hex]) : bytes;
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${whole.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), whole]);
}

function numbered(line: string): string {
  if (/^(EHLO|LHLO)/.test(line)) return '250-hello\r\n250 AUTH PLAIN LOGIN';
  if (line.startsWith('USER')) return `331 ${line}`;
  return `535 ${line} ${Buffer.from(line).toString('base64')}`;
}

function linesOf(heard: Buffer, say: (line: string) => string): string {
  const lines = heard.toString('utf8').split(/\r?\n/).filter(Boolean);
  return lines.map((line) => `${say(line)}\r\n`).join('');
}

for (const protocol of protocols) {
  const fields = secretFieldsOf(protocol);
  if (fields.length === 0) continue;
  void t.test(`${protocol} keeps its secrets to itself`, async (t) => {
    const schema = settingsSchema(protocol);
    const set = new Set<string>();
    const wrong: string[] = [];
    let runs = 0;
    await Promise.all(
      Object.entries(peers).map(async ([how, { greeting, answer }]) => {
        const talk = (socket: Socket) => {
          if (greeting !== undefined) socket.write(greeting);
          socket.on('data', (heard) => socket.writable && socket.write(answer(heard)));
        };
        const peer = await openPeer(talk, (heard) => heard);
        const own = bySecrets[protocol] ?? [login];
        const ways = [
          ...own,
          ...(fields.includes('client_key') && !own.includes(keyPair) ? [keyPair] : []),
          ...(fields.includes('proxy_password') ? [byProxy] : []),
        ];
        for (const make of ways) {
          for (const way of inTheClear) {
            const { url, settings } = pointedAt[protocol](peer.port);
            const { password: _none, username: _nobody, ...rest } = settings as Record<string, unknown>;
            const whole = { ...rest, ...make(peer.port), ...way };
            const read = schema.safeParse(whole);
            if (!read.success) continue;
            const secrets = fields.flatMap((field) => {
              const value = (whole as Record<string, unknown>)[field];
              if (value !== undefined) set.add(field);
              return secretTexts(value);
            });
            const said: string[] = [];
            const trace = (step: string, detail: string) => said.push(`${step} ${detail}`);
            const outcome = await runCheck(protocol, { url }, whole, testContext({ timeoutMs: 150, trace }));
            runs += 1;
            if (outcome.code === 'probe_internal') wrong.push(`${how}: ${outcome.message}`);
            const shown = [...texts(outcome), ...said].join('\n');
            for (const secret of secrets)
              for (const form of formsOf(secret))
                if (form.length >= 8 && shown.includes(form)) wrong.push(`${how}: "${form}" in ${around(shown, form)}`);
          }
        }
        await peer.stop();
      }),
    );
    t.same([...new Set(wrong)].slice(0, 10), [], 'nothing of them is shown');
    t.same([...set].sort(), [...fields].sort(), 'every secret was set');
    t.comment(`${runs} runs`);
  });
}

/** Every text in a value, as it is and not as JSON would write it. */
function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(texts) : [];
}

function around(text: string, form: string): string {
  const at = text.indexOf(form);
  return JSON.stringify(text.slice(Math.max(0, at - 60), at + form.length + 30));
}
