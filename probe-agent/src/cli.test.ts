import { httpTarget, leakGuard } from '@parallax/testkit';
import t from 'tap';
import { runCli } from './cli.ts';
import { lockStateFolder } from './state/lock.ts';
import { testControlPlane } from './testing/control-plane.ts';
import { scratchFolder } from './testing/results.ts';

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
  t.match(
    JSON.parse(doctor.out).findings.map((finding: { name: string }) => finding.name),
    ['icmp', 'ipv6', 'registration'],
  );
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

void t.test('check looks at a target from here, step by step', async (t) => {
  const target = await httpTarget(t);
  const allowed = await cli(['check', target.url, '--allowed-private-targets', '127.0.0.0/8', '--json']);
  t.equal(allowed.code, 0);
  t.match(JSON.parse(allowed.out), { outcome: 'ok', trace: Array });
  const denied = await cli(['check', target.url]);
  t.match(denied, { code: 1, out: /fail in / });
  t.match(await cli(['check', 'gopher://x', '--timeout', '2']), { code: 1, errors: /no protocol/ });
});
