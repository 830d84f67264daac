import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import {
  agentSettings,
  controlPlaneSettings,
  decodeKey,
  explicitSettings,
  readSettings,
  SettingsError,
  settingsTable,
} from './index.ts';

function problemsOf(run: () => unknown): readonly string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

t.test('an empty environment gives the defaults, frozen through and through', (t) => {
  const settings = readSettings(controlPlaneSettings, {});
  t.equal(settings.httpHost, '127.0.0.1');
  t.equal(settings.httpPort, 8080);
  t.equal(settings.enrolmentPort, 9444);
  t.same(settings.roles, ['api', 'dispatch', 'ingest', 'worker']);
  t.equal(settings.localProbes, undefined);
  t.equal(settings.logLevel, 'info');
  t.throws(() => Object.assign(settings, { httpPort: 1 }), TypeError);
  t.throws(() => (settings.roles as string[]).push('api'), TypeError);
  t.end();
});

t.test('values are read, typed and normalised; an empty variable counts as not set', (t) => {
  const settings = readSettings(controlPlaneSettings, {
    PARALLAX_HTTP_PORT: '9000',
    PARALLAX_GRPC_PORT: '',
    PARALLAX_ROLES: 'worker, api',
    PARALLAX_ALLOWED_PRIVATE_TARGETS: '10.0.0.0/8, 192.168.1.7,::1',
    PARALLAX_BASE_PATH: '/watch',
    PARALLAX_DATABASE_URL: 'postgresql://owner@%2Frun%2Fpg/parallax',
    HOME: '/nowhere',
  });
  t.equal(settings.httpPort, 9000);
  t.equal(settings.grpcPort, 9443);
  t.same(settings.roles, ['api', 'worker']);
  t.same(settings.allowedPrivateTargets, ['10.0.0.0/8', '192.168.1.7/32', '::1/128']);
  t.equal(settings.basePath, '/watch/');
  t.equal(settings.databaseUrl, 'postgresql://owner@%2Frun%2Fpg/parallax');
  t.end();
});

t.test('a value may come from a file, but not from both', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'settings-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'key');
  const key = Buffer.alloc(32, 7).toString('base64');
  writeFileSync(file, `${key}\n`);
  t.equal(readSettings(controlPlaneSettings, { PARALLAX_KEY_ENCRYPTION_KEY_FILE: file }).keyEncryptionKey, key);
  t.same(decodeKey(key), new Uint8Array(32).fill(7));
  t.match(
    problemsOf(() =>
      readSettings(controlPlaneSettings, {
        PARALLAX_HTTP_PORT: '1',
        PARALLAX_HTTP_PORT_FILE: file,
        PARALLAX_SMTP_URL_FILE: `${file}x`,
      }),
    ),
    [/^PARALLAX_HTTP_PORT and PARALLAX_HTTP_PORT_FILE are both set/, /^PARALLAX_SMTP_URL_FILE: cannot read .*keyx/],
  );
  t.end();
});

t.test('all problems are named at once, without the value of a secret', (t) => {
  const problems = problemsOf(() =>
    readSettings(controlPlaneSettings, {
      PARALLAX_HTTP_PORT: '70000',
      PARALLAX_GRPC_PORT: '0x10',
      PARALLAX_REGISTRATION: 'maybe',
      PARALLAX_ROLES: 'api,cook',
      PARALLAX_TRUSTED_PROXIES: '10.0.0.0/33',
      PARALLAX_KEY_ENCRYPTION_KEY: 'hunter2',
      PARALLAX_NATS_PUBLIC_ADDRESS: 'nats.example.org',
    }),
  );
  t.equal(problems.length, 7);
  t.match(problems[0], /PARALLAX_HTTP_PORT: "70000" does not fit: expected a whole number from 1 to 65535/);
  t.notMatch(problems.join('\n'), /hunter2/);
  t.end();
});

t.test('an unknown variable is refused with the nearest known name', (t) => {
  t.match(
    problemsOf(() =>
      readSettings(controlPlaneSettings, {
        PARALLAX_HTPP_PORT: '1',
        PARALLAX_SHARDS_FIL: 'x',
        PARALLAX_ZZZZZZZZZZZ: '',
      }),
    ),
    [
      'PARALLAX_HTPP_PORT is not known: did you mean PARALLAX_HTTP_PORT?',
      'PARALLAX_SHARDS_FIL is not known: did you mean PARALLAX_SHARDS_FILE?',
      /^PARALLAX_ZZZZZZZZZZZ is not known$/,
    ],
  );
  t.end();
});

t.test('control plane and agent leave the variables of each other alone', (t) => {
  const env = { PARALLAX_PROBE_MAX_IN_FLIGHT: '7', PARALLAX_HTTP_PORT: '81', PARALLAXED: '1' };
  t.equal(readSettings(controlPlaneSettings, env).httpPort, 81);
  t.equal(readSettings(agentSettings, env).maxInFlight, 7);
  t.match(
    problemsOf(() => readSettings(agentSettings, { PARALLAX_PROBE_NAMES: 'x' })),
    [/did you mean PARALLAX_PROBE_NAME\?/],
  );
  t.end();
});

t.test('a flag wins over the environment and is named in errors', (t) => {
  const env = { PARALLAX_PROBE_MAX_IN_FLIGHT: '7' };
  t.equal(readSettings(agentSettings, env, { MAX_IN_FLIGHT: '9' }).maxInFlight, 9);
  t.match(
    problemsOf(() => readSettings(agentSettings, env, { MAX_IN_FLIGHT: 'many' })),
    [/^--max-in-flight: "many"/],
  );
  t.same([...explicitSettings(agentSettings, env, { REGION: 'eu' })], ['region', 'maxInFlight']);
  t.end();
});

t.test('the table has a row per variable and shows no secret', (t) => {
  const rows = settingsTable(controlPlaneSettings).split('\n');
  t.equal(rows.length, 2 + Object.keys(controlPlaneSettings.settings).length);
  t.ok(rows.includes('| `PARALLAX_HTTP_PORT` | `8080` | port of the same |'));
  t.end();
});

t.test('sockets of Docker are absolute paths in their normal form', (t) => {
  const read = (value: string) => readSettings(agentSettings, { PARALLAX_PROBE_DOCKER_SOCKETS: value }).dockerSockets;
  t.same(read('/var/run/docker.sock, /run/../run/other.sock'), ['/var/run/docker.sock', '/run/other.sock']);
  t.equal(readSettings(agentSettings, {}).dockerSockets, undefined, 'none by default');
  for (const value of ['docker.sock', './a', '/', '/a/', '/a\tb', 'unix:///a', '/a,b'])
    t.equal(problemsOf(() => read(value)).length, 1, value);
  t.end();
});

t.test('base URLs of channels are named, and lose the slash at their end', (t) => {
  const read = (value: string) =>
    readSettings(controlPlaneSettings, { PARALLAX_CHANNEL_BASE_URLS: value }).channelBaseUrls;
  t.same(read('pushover=https://push.example.com/base/, ntfy=http://10.0.0.1:8080'), {
    pushover: 'https://push.example.com/base',
    ntfy: 'http://10.0.0.1:8080',
  });
  for (const value of [
    'pushover',
    'a=b',
    'a=ftp://x',
    'a=https://x?y',
    'a=https://x#y',
    'A=https://x',
    'a=https://x,a=https://y',
    'a=https://user:word@x',
  ])
    t.equal(problemsOf(() => read(value)).length, 1, value);
  t.end();
});

t.test('name servers are addresses, with a port where it is not 53', (t) => {
  const read = (text: string) => readSettings(controlPlaneSettings, { PARALLAX_DNS_SERVERS: text }).dnsServers;
  t.same(read('192.0.2.1, 127.0.0.1:5353,[2001:db8::1]:54'), ['192.0.2.1', '127.0.0.1:5353', '[2001:db8::1]:54']);
  t.same(read('2001:db8::2'), ['2001:db8::2']);
  for (const wrong of [
    'ns.example',
    '192.0.2.1:x',
    '[192.0.2.1',
    '192.0.2.1:53:53',
    '1.1.1.1,1.1.1.2,1.1.1.3,1.1.1.4',
  ]) {
    t.equal(problemsOf(() => read(wrong)).length, 1, wrong);
  }
  t.end();
});
