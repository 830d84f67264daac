import { spawnSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';

const root = path.resolve(import.meta.dirname, '../..');
const hook = path.join(import.meta.dirname, 'loaded-modules.fixture.ts');
const controlPlane = path.join(root, 'control-plane/src/main.ts');
const agent = path.join(root, 'probe-agent/src/main.ts');
const noFolder = path.join(import.meta.dirname, 'no-such-folder');

/** What only work needs: servers, databases, brokers, logs, and the contract of the API with the check types. */
const heavy =
  /node_modules\/(fastify|slonik|pg|@nats-io|@grpc|@peculiar|pino|prom-client|undici)\/|packages\/(checks|pki|wire)\/|packages\/api-contract\/src\/(?!(problems|input-errors)\.ts)/;

/** Runs Node and says what it has loaded. */
function run(...args: readonly string[]) {
  const { status, stdout, stderr, output } = spawnSync(process.execPath, ['--import', hook, ...args], {
    env: { PATH: process.env['PATH'] ?? '', PARALLAX_DATA_DIR: noFolder, PARALLAX_PROBE_STATE_DIR: noFolder },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  const loaded = (output[3] ?? '').split('\n');
  return { status, stdout, stderr, loaded, heavy: loaded.filter((url) => heavy.test(url)) };
}

t.test('what does no work loads nothing of what works', (t) => {
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ['--version', 0, /^\d+\.\d+\.\d+\n$/],
    ['--help', 0, /^Usage: control-plane /],
    ['settings', 0, /PARALLAX_DATA_DIR/],
    ['user create --help', 0, /--password-stdin/],
    ['no-such-command', 1, /^error: unknown command 'no-such-command'/],
    ['join-token create --name a', 1, /^error: required option '--region <region>' not specified/],
    ['user set-plan ada@example.com none', 1, /Allowed choices are free, paid, self_hosted/],
    ['--config no-such-file serve', 1, /^control-plane: [^]*no-such-file cannot be read/],
  ];
  for (const [line, status, text] of cases) {
    const ran = run(controlPlane, ...line.split(' '));
    t.same(ran.heavy, [], line);
    t.ok(ran.loaded.length < 160, `${line} loads ${ran.loaded.length} modules`);
    t.match({ status: ran.status, text: ran.stdout + ran.stderr }, { status, text }, line);
  }
  t.end();
});

t.test('a command that works loads it, and an error of its own is told without a stack', (t) => {
  const ran = run(controlPlane, 'user', 'list');
  for (const name of ['node_modules/slonik/', 'packages/api-contract/src/index.ts', 'node_modules/pino/'])
    t.ok(
      ran.heavy.some((url) => url.includes(name)),
      name,
    );
  t.match(ran, { status: 1, stderr: /^control-plane: there is no database in the data folder .*\n$/ });
  t.end();
});

t.test('the supervisor loads what it starts an installation with, and nothing of the API', (t) => {
  const files = ['up.run.ts', 'installation.ts', 'make-join-token.ts'].map((file) =>
    path.join(root, 'control-plane/src/commands', file),
  );
  const ran = run(
    '--input-type=module',
    '--eval',
    files.map((file) => `await import(${JSON.stringify(file)});`).join('\n'),
  );
  t.match(ran, { status: 0, stderr: '' });
  t.ok(ran.loaded.some((url) => url.endsWith('/supervisor/up.ts')));
  t.same(
    ran.heavy.filter((url) => /api-contract|checks|wire|fastify|@nats-io|@grpc|undici|prom-client/.test(url)),
    [],
  );
  t.end();
});

t.test('commands of the agent that do not check load no check types', (t) => {
  const cases: readonly (readonly [string, number, RegExp])[] = [
    ['--version', 0, /^\d+\.\d+\.\d+\n$/],
    ['run --help', 0, /^Usage: probe-agent run /],
    ['no-such-command', 2, /^error: unknown command 'no-such-command'/],
    ['status', 1, /no registered probe/],
    ['doctor', 1, /has no registered probe/],
  ];
  // Doctor tries what a machine can do by the few files of packages/checks that do so.
  const foreign =
    /node_modules\/(@grpc|@nats-io|@bufbuild|@peculiar|ssh2|ws|pino)\/|packages\/(wire|api-contract)\/|\/registry\.ts/;
  for (const [line, status, text] of cases) {
    const ran = run(agent, ...line.split(' '));
    t.same(
      ran.loaded.filter((url) => foreign.test(url)),
      [],
      line,
    );
    t.match({ status: ran.status, text: ran.stdout + ran.stderr }, { status, text }, line);
  }
  t.ok(
    run(agent, 'check', '--types').loaded.some((url) => url.endsWith('/registry.ts')),
    'while check loads them',
  );
  t.end();
});
