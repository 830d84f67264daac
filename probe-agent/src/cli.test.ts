import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { protocols } from '@parallax/checks';
import { httpTarget, leakGuard } from '@parallax/testkit';
import t from 'tap';
import { runCli } from './cli.ts';
import type { Finding } from './machine/finding.ts';
import { lockStateFolder } from './state/lock.ts';
import { testControlPlane } from './testing/control-plane.ts';
import { scratchFolder } from './testing/results.ts';
import { agentVersion } from './version.ts';

leakGuard(t);

/** Runs the command line; gives its exit code, its output and its errors. */
async function cli(args: readonly string[], env: Record<string, string> = {}) {
  const out: string[] = [];
  const errors: string[] = [];
  const code = await runCli(
    ['node', 'probe-agent', ...args],
    { env, output: { line: (text) => out.push(text) } },
    (text) => errors.push(text),
  );
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

void t.test('register by flags or environment, then status', async (t) => {
  const controlPlane = await testControlPlane(t);
  const stateDir = scratchFolder(t);
  const before = await cli(['status', '--state-dir', stateDir]);
  t.match(before, { code: 1, out: /no registered probe/ });
  const registered = await cli(
    ['register', '--control-plane', controlPlane.enrolmentAddress, '--state-dir', stateDir, '--name', 'other'],
    {
      PARALLAX_PROBE_JOIN_TOKEN: controlPlane.joinToken(),
    },
  );
  t.match(registered, { code: 0, out: /registered as probe 7 "berlin-1" in region "eu-central"/ });
  t.match(registered.out, /made for the name "berlin-1"; "other" is not used/);
  const status = await cli(['status', '--state-dir', stateDir, '--json']);
  t.equal(status.code, 1, 'not running');
  t.match(JSON.parse(status.out), {
    registered: true,
    running: false,
    probe_id: 7,
    authority_fingerprint: controlPlane.authority.fingerprint,
  });
  const lock = await lockStateFolder(stateDir, () => ({ pid: process.pid, session_connected: true }));
  const live = await cli(['status', '--state-dir', stateDir]);
  t.match(live, { code: 0, out: /session connected: true/ });
  t.match(await cli(['run', '--state-dir', stateDir, '--log-level', 'error']), {
    code: 1,
    errors: /in use by another probe agent/,
  });
  await lock.release();
  const doctor = await cli(['doctor', '--state-dir', stateDir, '--json']);
  const { ok, findings } = JSON.parse(doctor.out) as { ok: boolean; findings: Finding[] };
  t.same(
    findings.map(({ name }) => name),
    ['icmp', 'ipv6', 'traceroute', 'browser', 'name servers', 'clock', 'open files', 'disk', 'registration', 'session'],
  );
  t.match(findings.at(-2), { level: 'ok', detail: 'probe 7 "berlin-1"' });
  t.match(findings.at(-1), { level: 'warn', detail: /no agent runs.*can be reached/ });
  t.equal(doctor.code, ok ? 0 : 1);
  t.equal(
    ok,
    findings.every(({ level }) => level !== 'fail'),
  );
  for (const { name, level, remedy } of findings)
    t.equal(remedy === '', level === 'ok', `${name} (${level}): ${remedy}`);
  const forPeople = await cli(['doctor', '--state-dir', stateDir]);
  t.match(forPeople.out, /^ok +registration +probe 7 "berlin-1"$/m);
  t.match(forPeople.out, /^warn +browser +no browser is switched on.*\n +-> .*PARALLAX_PROBE_BROWSER=/m);
});

void t.test('what is missing or wrong is said in one line, without a stack and without the token', async (t) => {
  const stateDir = scratchFolder(t);
  t.match(await cli(['register', '--state-dir', stateDir]), { code: 1, errors: /--control-plane host:port/ });
  t.match(await cli(['register', '--state-dir', stateDir, '--control-plane', '127.0.0.1:1']), {
    code: 1,
    errors: /join-token create/,
  });
  const broken = await cli([
    'register',
    '--state-dir',
    stateDir,
    '--control-plane',
    '127.0.0.1:1',
    '--join-token',
    '1.very-secret-very-secret.xyz',
  ]);
  t.match(broken, { code: 1, errors: /not a SHA-256 fingerprint/ });
  t.notMatch(broken.errors, /very-secret| at /);
  t.match(await cli(['register', '--state-dir', stateDir, '--control-plane', 'nonsense']), {
    code: 1,
    errors: /host:port/,
  });
});

void t.test('doctor fails where there is no probe, and says how to get one', async (t) => {
  const stateDir = scratchFolder(t);
  const { code, out } = await cli(['doctor', '--state-dir', stateDir]);
  t.equal(code, 1);
  t.match(out, /^fail +registration +.* has no registered probe\n +-> probe-agent register --control-plane/m);
});

const local = ['--allowed-private-targets', '127.0.0.0/8'];

void t.test('check looks at a target from here, step by step', async (t) => {
  const target = await httpTarget(t);
  const allowed = await cli(['check', target.url, ...local, '--json']);
  t.equal(allowed.code, 0);
  t.match(JSON.parse(allowed.out), { type: 'http', target: target.url, outcome: 'ok', phases: Object, trace: Array });
  const forPeople = await cli(['check', target.url, ...local]);
  t.match(forPeople, { code: 0, out: /^ {2}connect +[\d.]+ ms +[█▏]+\n(.*\n)*^ok in [\d.]+ ms$/m });
  t.notMatch(forPeople.out, '\u001b', 'no colours outside of a terminal');
  const denied = await cli(['check', target.url]);
  t.match(denied, { code: 1, out: /^fail in .*\[address_denied, target\]\n-> --allowed-private-targets CIDR /m });
});

void t.test('check takes settings, and secrets from files', async (t) => {
  const target = await httpTarget(t);
  const folder = scratchFolder(t);
  const missing = await cli(['check', target.url, ...local, '--set', 'keyword=not there', '--json']);
  t.match({ ...missing, out: JSON.parse(missing.out) }, { code: 1, out: { outcome: 'fail', code: 'keyword_missing' } });
  const file = path.join(folder, 'value');
  writeFileSync(file, 'not there\n');
  for (const args of [
    ['--set-file', `keyword=${file}`],
    ['--set', 'expected_status=404,500'],
    ['--set', 'expected_status:=[404]'],
    ['--set', 'expected_status=404'],
  ])
    t.match(await cli(['check', target.url, ...local, ...args]), { code: 1 }, args.join(' '));
  writeFileSync(file, '{"expected_status": ["200-299"]}');
  t.match(await cli(['check', target.url, ...local, '--settings', file, '--set', 'verify_tls=false']), { code: 0 });
});

void t.test('what check cannot be asked has the exit code 2 and says what is right', async (t) => {
  const wrong = {
    'gopher://x': [[], /"gopher:\/\/" is no check type.*--type/],
    'https://a.test/': [['--type', 'constructor'], /no check type.*--types/],
    'https://b.test/': [['--set', 'keywrod=x'], /"https" has no setting "keywrod"; it has: .*keyword/],
    'https://c.test/': [['--set', 'password'], /takes name=value/],
    'https://d.test/': [['--set', 'max_redirects=many'], /do not fit "https": max_redirects/],
    'https://e.test/': [['--set', 'headers:={'], /no JSON/],
    'https://f.test/': [['--set-file', 'password=/no/such/file'], /--set-file password: .*cannot be read/],
    'https://g.test/': [['--timeout', 'long'], /--timeout: a number of seconds/],
    'ftp://h h': [[], /the target does not fit "ftp"/],
  } as const;
  for (const [target, [args, message]] of Object.entries(wrong)) {
    const { code, out, errors } = await cli(['check', target, ...args]);
    t.match({ code, out, errors }, { code: 2, out: '', errors: message }, target);
    t.match(errors, /^probe-agent: [^\n]+$/, 'in one line');
  }
  t.match(await cli(['check']), { code: 2, errors: /what is to be checked/ });
  const secret = await cli(['check', 'https://i.test/', '--set', 'max_redirects=hunter2']);
  t.notMatch(secret.errors, /hunter2/, 'a value is not repeated: it may be a secret');
});

void t.test('check lists its types', async (t) => {
  t.match(await cli(['check', '--types']), { code: 0, out: /^postgres +A PostgreSQL server/m });
  const { types } = JSON.parse((await cli(['check', '--types', '--json'])).out) as { types: { type: string }[] };
  t.same(
    types.map(({ type }) => type),
    protocols,
  );
});

void t.test('help and version are no failures', async (t) => {
  t.match(await cli(['--version']), { code: 0, out: agentVersion });
  t.match(await cli(['check', '--help']), { code: 0, out: /Example:\n {2}probe-agent check .*--set-file password=/s });
});
