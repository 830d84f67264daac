import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { countMissing, needs } from '@parallax/testkit/needs';
import t, { type Test } from 'tap';
import { anAssignment, testControlPlane } from '../../probe-agent/src/testing/control-plane.ts';
import { until } from '../../probe-agent/src/testing/until.ts';
import type { AgentCommand } from '../harness/product.ts';
import { runToEnd, startNode } from '../harness/processes.ts';
import { endedChildrenSeconds } from '../runner/processor-time.ts';
import { threeProbes } from './three-probes.ts';

/** What an agent that has nothing to check may hold. */
const mostIdleBytes = 115e6;
/** Processor time that a start may take; it takes half of it. */
const mostStartMs = 400;

const folder = mkdtempSync(path.join(tmpdir(), 'parallax-executable-'));
// Others than its owner start the executable too.
chmodSync(folder, 0o755);
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const executable = path.join(folder, `probe-agent-linux-${process.arch}`);

/** Another account without new privileges, and with raw sockets as its only capability, as deploy/systemd has it. */
const rightsOfTheUnit = [
  'setpriv',
  '--reuid=65534',
  '--regid=65534',
  '--clear-groups',
  '--no-new-privs',
  '--inh-caps=-all,+net_raw',
  '--ambient-caps=-all,+net_raw',
  '--bounding-set=-all,+net_raw',
];

/** Runs the executable to its end with nothing in its environment, in the root folder. */
function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(executable, args, { env: {}, cwd: '/', encoding: 'utf8' });
  return { status, stdout, stderr };
}

const isLinux = process.platform === 'linux';
t.test(
  'one file that needs nothing',
  { timeout: 280_000, skip: !isLinux && 'executables are made for Linux' },
  async (t) => {
    await t.test('the build writes the executable, its checksum and the licences of what is inside', async (t) => {
      const build = startNode(['scripts/build-agent.mjs', '--arch', process.arch, '--out', folder], {});
      await runToEnd(build, 'the build of the executable', 120_000);
      const digest = createHash('sha256').update(readFileSync(executable)).digest('hex');
      t.equal(readFileSync(`${executable}.sha256`, 'utf8'), `${digest}  ${path.basename(executable)}\n`);
      const licences = readFileSync(path.join(folder, 'probe-agent-licenses.txt'), 'utf8');
      for (const part of [
        'Apache License',
        'Node.js 24.',
        '@grpc/grpc-js 1.',
        'zod 4.',
        'tweetnacl ',
        'ssh2 ',
        're2js ',
      ])
        t.ok(licences.includes(part), `the licences name ${part}`);
    });

    await t.test('it answers with an empty environment', async (t) => {
      const { version } = JSON.parse(readFileSync('probe-agent/package.json', 'utf8')) as { version: string };
      t.match(run('--version'), { status: 0, stdout: `${version}\n`, stderr: '' });
      t.match(run('--help'), { status: 0, stdout: /Usage: probe-agent .*\n {2}run .*\n/s, stderr: '' });
      t.match(run('run', '--help'), { status: 0, stdout: /--state-dir <folder>/, stderr: '' });
      t.match(run('--nonsense'), { status: 2, stdout: '', stderr: "error: unknown option '--nonsense'\n" });
      t.match(run('run', '--state-di', '/tmp'), {
        status: 2,
        stdout: '',
        stderr: /unknown option '--state-di'.*--state-dir/s,
      });
      t.match(run('status', '--state-dir', path.join(folder, 'none')), {
        status: 1,
        stdout: /no registered probe/,
        stderr: '',
      });
      t.match(run('run', '--state-dir', path.join(folder, 'none')), { status: 1, stderr: /--control-plane host:port/ });
      t.match(run('check', 'http://127.0.0.1:1', '--allowed-private-targets', '127.0.0.0/8'), {
        status: 1,
        stdout: /refused the connection/,
        stderr: '',
      });
    });

    await t.test('what is loaded when it is first needed is inside, and does without its native parts', async (t) => {
      const check = async (...args: readonly string[]) => {
        const command = ['check', ...args, '--json', '--allowed-private-targets', '127.0.0.0/8'];
        const child = spawn(executable, command, { env: {}, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
        return JSON.parse(await text(child.stdout)) as object;
      };
      const ssh = await peerThatSays(t, 'SSH-2.0-peer\r\nno key exchange', 'when asked');
      const mqtt = await peerThatSays(t, Buffer.from([0x20, 2, 0, 5]), 'when asked');
      const whois = await peerThatSays(t, 'Registry Expiry Date: 2001-01-01T00:00:00Z\r\n', 'when asked');
      const registry = ['--type', 'whois', '--set', `whois_server=127.0.0.1:${whois}`];
      const [overSsh, overMqtt, ofDomain] = await Promise.all([
        check(`ssh://127.0.0.1:${ssh}`),
        check(`mqtt://127.0.0.1:${mqtt}`),
        check('example.test', ...registry),
      ]);
      t.match(overSsh, { outcome: 'fail', source: 'target', code: /^ssh_/ }, 'ssh2');
      t.match(overMqtt, { outcome: 'fail', source: 'target', code: 'broker_auth' }, 'mqtt');
      t.match(ofDomain, { outcome: 'fail', source: 'target', code: 'whois_expired' }, 'tldts');
    });

    await t.test('options for other programs of Node do not reach it', async (t) => {
      const env = { NODE_OPTIONS: '--require=/nowhere/at-all.js' };
      const { status, stderr } = spawnSync(executable, ['--version'], { env, encoding: 'utf8' });
      t.match({ status, stderr }, { status: 0, stderr: '' });
    });

    await t.test('it starts fast', async (t) => {
      // Processor time, which other programs of the machine do not lengthen as they do the wall's; the kernel counts it in hundredths.
      const times = Array.from({ length: 7 }, () => {
        const before = endedChildrenSeconds() ?? 0;
        run('--version');
        return ((endedChildrenSeconds() ?? 0) - before) * 1_000;
      }).toSorted((a, b) => a - b);
      t.comment(`--version: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms of processor time`);
      const [, , , median = 0] = times;
      t.ok(median > 0 && median < mostStartMs, `a median of ${median.toFixed(0)} ms, at most ${mostStartMs}`);
    });

    await t.test('its checks run in as many threads as it is told', async (t) => {
      const asked = new Set<string>();
      const target = createHttpServer((request, response) => {
        asked.add(request.socket.localAddress ?? '');
        response.end();
      });
      await new Promise<void>((resolve) => target.listen(0, '0.0.0.0', resolve));
      t.teardown(() => target.close());
      const { port } = target.address() as AddressInfo;
      const hosts = [1, 2, 3, 4, 5, 6].map((last) => `127.0.9.${last}`);
      const controlPlane = await testControlPlane(t);
      const assigned = hosts.map((host, index) =>
        anAssignment({ monitorId: index + 1, url: `http://${host}:${port}/`, intervalSeconds: 1 }),
      );
      controlPlane.onSession = (session) => session.sendSnapshot(assigned, 1n);
      const env = {
        PARALLAX_PROBE_CONTROL_PLANE: controlPlane.enrolmentAddress,
        PARALLAX_PROBE_JOIN_TOKEN: controlPlane.joinToken(),
        PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
      };
      const args = ['run', '--workers', '2', '--state-dir', path.join(folder, 'threaded')];
      const agent = spawn(executable, args, { env, cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] });
      t.teardown(() => agent.kill('SIGKILL'));
      const ended = new Promise((resolve) => agent.once('close', resolve));
      await until('each target is checked', () => asked.size === hosts.length, 30_000);
      agent.kill('SIGTERM');
      t.equal(await ended, 0);
    });

    const [setpriv = '', ...rights] = rightsOfTheUnit;
    await t.test('it pings with the rights that the unit of systemd gives it', async (t) => {
      if (!needs(t, 'root', 'setpriv', 'fping')) return;
      const canPing = spawnSync(setpriv, [...rights, 'fping', '-c1', '127.0.0.1']).status === 0;
      if (!canPing) return countMissing(t, 'ping-permission');
      const args = ['check', 'icmp://127.0.0.1', '--allowed-private-targets', '127.0.0.0/8'];
      const { status, stdout } = spawnSync(setpriv, [...rights, executable, ...args], { env: {}, encoding: 'utf8' });
      t.match({ status, stdout }, { status: 0, stdout: /4 of 4 packets/ });
    });

    const agentCommand = isolated();
    // Without one the file system stays writable.
    if (agentCommand.command === executable) countMissing(t, 'mount-namespaces');
    await t.test(
      'three vantage points run from it, without any other program and with a file system that is read-only but for their state',
      (t) =>
        threeProbes(t, {
          agentCommand,
          whenRunning: async ({ agents }) => {
            for (const { agent, process } of agents) {
              const used = residentBytes(process.pid);
              t.ok(
                used < mostIdleBytes,
                `${agent.name} holds ${(used / 1e6).toFixed(1)} MB, less than ${mostIdleBytes / 1e6}`,
              );
              t.match(run('status', '--state-dir', agent.stateDir, '--json'), {
                status: 0,
                stdout: /"session_connected":true/,
              });
            }
          },
        }),
    );
  },
);

/** The executable without a PATH, and behind a read-only file system where this machine lets us have one of our own. */
function isolated(): AgentCommand {
  const environment = { PATH: '', HOME: '' };
  const readOnly =
    '/bin/mkdir -p "$PARALLAX_PROBE_STATE_DIR" && /bin/mount --bind "$PARALLAX_PROBE_STATE_DIR" "$PARALLAX_PROBE_STATE_DIR" && ' +
    '/bin/mount -o remount,ro,bind / && exec "$@"';
  const args = ['--mount', '/bin/sh', '-c', readOnly, 'sh'];
  const tried = spawnSync('/usr/bin/unshare', [...args, executable, '--version'], {
    env: { ...environment, PARALLAX_PROBE_STATE_DIR: path.join(folder, 'tried') },
  });
  return tried.status === 0
    ? { command: '/usr/bin/unshare', args: [...args, executable], environment }
    : { command: executable, args: [], environment };
}

/** Memory of a process that is in use now, as Linux counts it. */
function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024;
}

/** Answers each connection on loopback with a text: at once, or when something was sent. */
async function peerThatSays(t: Test, text: string | Buffer, when: 'at once' | 'when asked'): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (when === 'at once') socket.end(text);
    else socket.once('data', () => socket.end(text));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}
