import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { agentSettings, controlPlaneSettings, readSettings, SettingsError, withConfigFile } from './index.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'parallax-config-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const file = path.join(folder, 'parallax.env');
const argv = ['node', 'main.ts', '--config', file, 'serve'];

function given(content: string | Buffer, env: Record<string, string> = {}) {
  writeFileSync(file, content);
  return withConfigFile(controlPlaneSettings, argv, env, [agentSettings]);
}

function problems(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SettingsError) return error.problems.join('\n').replaceAll(file, 'FILE');
    throw error;
  }
  return 'none';
}

t.test('settings come from the file, in quotes or bare, and the flag is taken out of the command line', (t) => {
  const { argv: rest, env } = given(
    [
      '# the web',
      'PARALLAX_HTTP_PORT=9000',
      '',
      'PARALLAX_MAIL_FROM="Parallax # of ours <p@example.org>"  ',
      "PARALLAX_SMTP_URL='smtp://user:p$ss\\word@mail.example.org'\r",
      'PARALLAX_PUBLIC_URL=https://example.org/a#b=c',
      'PARALLAX_GRPC_PORT=',
      'PARALLAX_PROBE_LOG_LEVEL=debug',
    ].join('\n'),
    { HOME: '/home/x' },
  );
  t.same(rest, ['node', 'main.ts', 'serve']);
  const settings = readSettings(controlPlaneSettings, env);
  t.match(settings, {
    httpPort: 9_000,
    mailFrom: 'Parallax # of ours <p@example.org>',
    smtpUrl: 'smtp://user:p$ss\\word@mail.example.org',
    publicUrl: 'https://example.org/a#b=c',
    grpcPort: 9_443,
  });
  t.match(env, { HOME: '/home/x', PARALLAX_PROBE_LOG_LEVEL: 'debug' }, 'what is for local agents is handed on');
  t.end();
});

t.test('the environment wins over the file, whichever of the two forms each uses; an empty variable does not', (t) => {
  const { env } = given(
    'PARALLAX_HTTP_PORT=9000\nPARALLAX_MAIL_FROM=file\nPARALLAX_SMTP_URL_FILE=/from/file\nPARALLAX_SHARDS=2',
    {
      PARALLAX_HTTP_PORT: '9001',
      PARALLAX_MAIL_FROM_FILE: '/from/environment',
      PARALLAX_SMTP_URL: 'smtp://environment',
      PARALLAX_SHARDS: '',
    },
  );
  t.same(env, {
    PARALLAX_HTTP_PORT: '9001',
    PARALLAX_MAIL_FROM_FILE: '/from/environment',
    PARALLAX_SMTP_URL: 'smtp://environment',
    PARALLAX_SHARDS: '2',
  });
  t.end();
});

t.test('a variable names the file too, the flag wins over it, and neither is handed on', (t) => {
  writeFileSync(file, 'PARALLAX_HTTP_PORT=9000\n');
  const named = withConfigFile(controlPlaneSettings, ['node', 'main.ts', 'serve'], { PARALLAX_CONFIG_FILE: file });
  t.same(named.env, { PARALLAX_HTTP_PORT: '9000' });
  const both = withConfigFile(controlPlaneSettings, ['node', 'main.ts', 'serve', `--config=${file}`], {
    PARALLAX_CONFIG_FILE: '/nowhere',
  });
  t.same(both, { argv: ['node', 'main.ts', 'serve'], env: { PARALLAX_HTTP_PORT: '9000' } });
  const none = withConfigFile(controlPlaneSettings, ['node', 'main.ts', '--', '--config', 'x'], {
    PARALLAX_CONFIG_FILE: '',
  });
  t.same(none, { argv: ['node', 'main.ts', '--', '--config', 'x'], env: {} });
  t.end();
});

t.test('every wrong line is told with its number, and misspelt names with the nearest', (t) => {
  const told = problems(() =>
    given(
      [
        'PARALLAX_HTTP_PROT=9000',
        'PARALLAX_SHARDS=2',
        'PARALLAX_SHARDS=3',
        'PARALLAX_SMTP_URL_FILE=/run/secrets/smtp',
        'PARALLAX_SMTP_URL=smtp://x',
        'PARALLAX_GRPC_PORT=many',
        'PARALLAX_PROBE_NAMES=x',
        'DATABASE_URL=postgres://x',
        'nothing to read',
        'PARALLAX_CONFIG_FILE=/another',
      ].join('\n'),
    ),
  ).split('\n');
  t.match(told, [
    /^FILE, line 1: PARALLAX_HTTP_PROT is not known: did you mean PARALLAX_HTTP_PORT\?$/,
    /^FILE, line 3: PARALLAX_SHARDS stands in line 2 already: keep one$/,
    /^FILE, line 5: PARALLAX_SMTP_URL and the setting of line 4 say the same thing/,
    /^FILE, line 6: PARALLAX_GRPC_PORT: "many" does not fit: expected a whole number/,
    /^FILE, line 7: PARALLAX_PROBE_NAMES is not known: did you mean PARALLAX_PROBE_NAME\?$/,
    /^FILE, line 8: DATABASE_URL is not known/,
    /^FILE, line 9: is no setting: write NAME=value$/,
    /^FILE, line 10: PARALLAX_CONFIG_FILE is not known/,
  ]);
  t.equal(told.length, 8);
  t.end();
});

t.test('what other readers of such files read differently is refused', (t) => {
  const cases: [string, RegExp][] = [
    ['export PARALLAX_SHARDS=2', /begins with export/],
    [' PARALLAX_SHARDS=2', /begins with a blank/],
    ['PARALLAX_SHARDS =2', /blanks around it/],
    ['PARALLAX_SHARDS= 2', /a blank follows the =/],
    ['PARALLAX_SHARDS=2 # two', /comment to some/],
    ['PARALLAX_MAIL_FROM=$HOME', /in single quotes/],
    ['PARALLAX_MAIL_FROM="a\\nb"', /in single quotes/],
    ['PARALLAX_MAIL_FROM=a\\', /in single quotes/],
    ['PARALLAX_MAIL_FROM="open', /not closed/],
    ["PARALLAX_MAIL_FROM='a'b", /follows the closing quote/],
    ['PARALLAX_MAIL_FROM=it"s', /whole value or not at all/],
    ['PARALLAX_MAIL_FROM=a\u0000b', /control characters/],
    ['\uFEFFPARALLAX_SHARDS=2', /byte order mark/],
  ];
  for (const [line, message] of cases)
    t.match(
      problems(() => given(line)),
      message,
      JSON.stringify(line),
    );
  t.end();
});

t.test('no value of a secret is told, however wrong the line', (t) => {
  const secret = 'Canary-5f2c';
  const told = problems(() =>
    given(
      [
        `PARALLAX_KEY_ENCRYPTION_KEY=${secret}`,
        `PARALLAX_DATABASE_URL=${secret}$x`,
        `PARALLAX_SMTP_URL="${secret}`,
        `PARALLAX_KEY_ENCRYPTION_KEYS=${secret}`,
        `PARALLAX_SMTP_URL ${secret}`,
      ].join('\n'),
    ),
  );
  t.equal(told.split('\n').length, 5);
  t.notMatch(told, secret);
  t.match(told, /PARALLAX_KEY_ENCRYPTION_KEY: the given value does not fit/);
  t.end();
});

t.test('a file that cannot be read is named, and a flag without a file or given twice is refused', (t) => {
  t.match(
    problems(() => given(Buffer.of(0xff, 0xfe))),
    /FILE cannot be read: it is not UTF-8 text/,
  );
  t.match(
    problems(() => given('#'.repeat(70_000))),
    /FILE has 70000 bytes, at most 65536/,
  );
  const from = (...args: string[]) => problems(() => withConfigFile(controlPlaneSettings, ['node', 'x', ...args], {}));
  t.match(from('--config', '/nowhere/at/all'), /\/nowhere\/at\/all cannot be read: ENOENT/);
  t.match(from('--config', folder), /not a file/);
  t.match(from('--config', 'a', '--config=b'), /twice/);
  t.match(from('serve', '--config'), /the name of a file is expected/);
  t.end();
});

t.test('the agent does not take settings of the control plane', (t) => {
  writeFileSync(file, 'PARALLAX_PROBE_NAME=a\nPARALLAX_DATABASE_URL=postgres://x\n');
  t.match(
    problems(() => withConfigFile(agentSettings, argv, {})),
    /^FILE, line 2: PARALLAX_DATABASE_URL is not known/,
  );
  t.end();
});
