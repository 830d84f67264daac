import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { isRunning } from '@parallax/embedded';
import t from 'tap';
import { eventually, root, runToEnd, startCommand, startNode } from '../harness/processes.ts';
import { apiClient } from '../harness/api-client.ts';
import { processTree } from '../harness/process-tree.ts';
import { newInstallation, untilReady } from '../harness/product.ts';
import { fencedBlocks } from '../harness/readme.ts';

const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const shellBlocks = fencedBlocks(readFileSync(path.join(root, 'README.md'), 'utf8'))
  .filter(({ language }) => language === 'sh')
  .map(({ content }) => content);

/** The only block that has a text in it. */
function blockWith(text: string): string {
  const found = shellBlocks.filter((block) => block.includes(text));
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`README.md has ${found.length} blocks of sh with ${text}`);
  return found[0];
}

/** An address of this machine that a probe elsewhere could dial; loopback where there is none. */
function outsideAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

/** The variables in front of `npm start`, as README.md has them, for this machine and these ports. */
function settingsOf(block: string, ports: Readonly<Record<string, number>>): Record<string, string> {
  const usual: Record<string, number | undefined> = {
    9443: ports['grpc'],
    9444: ports['enrolment'],
    4222: ports['nats'],
  };
  const words = block.replaceAll('\\\n', ' ').trim().split(/\s+/).slice(0, -2);
  return Object.fromEntries(
    words.map((word) => {
      const [name = '', value = ''] = word.split('=');
      return [
        name,
        value
          .replace('parallax.example.org', outsideAddress())
          .replace(/:(\d+)$/, (_, port: string) => `:${usual[port]}`),
      ];
    }),
  );
}

t.test('what README.md tells people to type works', { timeout: 180_000 }, async (t) => {
  const elsewhere = blockWith('PARALLAX_GRPC_HOST');
  t.match(elsewhere, /npm start\n$/);
  const { ports, ...bare } = await newInstallation({ PARALLAX_LOCAL_PROBES: '1' });
  t.teardown(bare.remove);
  const given = settingsOf(elsewhere, ports);
  t.equal(given['PARALLAX_ENROLMENT_PUBLIC_ADDRESS'], `${outsideAddress()}:${ports.enrolment}`);
  const { baseUrl, dataDir } = bare;
  const supervisor = startNode(
    ['control-plane/src/main.ts', 'up'],
    { ...bare.environment, ...given },
    path.join(dataDir, 'output.log'),
  );
  t.teardown(() => supervisor.stop(15_000));
  await untilReady(bare, supervisor);
  await eventually('the URL', async () => supervisor.output().includes('Parallax is running'));
  /** A shell that knows where the data folder is and nothing else. */
  const shell = (script: string) => {
    const local = script.replaceAll('http://localhost:8080', baseUrl);
    return runToEnd(startCommand('bash', ['-euc', local], { PARALLAX_DATA_DIR: dataDir }), script);
  };

  await t.test('every block is tried here or by another test', (t) => {
    const known = [
      /^npm start\n$/,
      /^npm test\n$/,
      /^PARALLAX_GRPC_HOST=/,
      /^curl -s http:\/\/localhost:8080\/api\/v1\/auth\/register /,
      /^curl -s http:\/\/localhost:8080\/api\/v1\/status-pages /,
      /^curl -s http:\/\/localhost:8080\/api\/v1\/alerts\/test-send /,
      /^npm run --silent probe-agent -- check /,
      /^npm run --silent control-plane -- join-token create /,
      /^npm run --silent probe-agent -- register /,
      // executable.test.ts
      /^npm run build:agent\n$/,
      // compose.test.ts runs what these start
      /^docker compose up --build --detach\ndocker compose logs control-plane \| grep set-up\n$/,
      /^npm run --silent control-plane -- backup /,
      /^mkdir -m 711 restored /,
    ];
    t.same(
      shellBlocks.filter((block) => !known.some((form) => form.test(block))),
      [],
    );
    t.equal(shellBlocks.length, known.length);
    t.equal(manifest.scripts['build:agent'], 'node scripts/run.mjs scripts/build-agent.mjs');
    t.end();
  });

  await t.test('the addresses that it names answer', async (t) => {
    t.equal((await fetch(baseUrl)).status, 200);
    t.equal((await fetch(`${baseUrl}/docs`)).status, 200);
  });

  await t.test('a first monitor, pasted into a shell, then its status page and a channel that is tried', async (t) => {
    const blocks = ['/api/v1/monitors', '/api/v1/status-pages', 'alerts/test-send'].map(blockWith);
    const [output = '', page = '', tried = ''] = (await shell(blocks.join('echo; echo next\n'))).split('\nnext\n');
    t.match(JSON.parse(page), { slug: 'example', is_published: true, url: `${baseUrl}/status/example` });
    const shown = await fetch(`${baseUrl}/status/example`);
    t.equal(shown.status, 200);
    t.match(shown.headers.get('content-type'), 'text/html');
    t.match(JSON.parse(tried), {
      ok: false,
      error: { code: 'target_not_confirmed', message: 'open the link in the mail' },
    });
    const last = output.slice(output.lastIndexOf('{"id":'));
    t.match(JSON.parse(last), {
      id: 1,
      name: 'Example',
      url: 'https://example.org/',
      protocol: 'https',
      is_active: true,
    });
  });

  await t.test('a check from here, the types, and what this machine lacks', async (t) => {
    const [check = '', types = '', doctor = ''] = blockWith('probe-agent -- check').trim().split('\n');
    t.match(check, /check https:\/\/example\.org\/$/);
    const allowed = 'export PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS=127.0.0.0/8';
    const page = check.replace('https://example.org/', `${baseUrl}/health/liveness`);
    t.match(await shell(`${allowed}\n${page}`), /first_byte[^]*200/);
    t.match(await shell(types), /^https\b[^]*^pagespeed\b/m);
    // What a machine lacks is no fault of the command.
    t.match(await shell(`${doctor} || test $? = 1`), /name servers/);
  });

  await t.test('a backup of what runs, and its restore into a new data folder', async (t) => {
    const file = path.join(dataDir, 'parallax.backup');
    const restored = path.join(dataDir, 'restored');
    const here = (block: string) =>
      block
        .replaceAll('parallax.backup', file)
        .replaceAll(' data/', ` ${dataDir}/`)
        .replaceAll(/\brestored\b/g, restored);
    t.match(await shell(here(blockWith('backup --verify'))), /key-encryption key is not in the backup/);
    await shell(here(blockWith('mkdir -m 711')));
    t.ok(existsSync(path.join(restored, 'postgres')));
  });

  await t.test('a probe elsewhere, by the command that is printed', async (t) => {
    const output = await shell(blockWith('join-token create'));
    const command = /^ {2}probe-agent (register .*)$/m.exec(output)?.[1] ?? '';
    t.match(command, ` --control-plane ${outsideAddress()}:${ports.enrolment} `, 'it dials the public address');
    t.match(output, /^ {2}probe-agent run$/m);
    const token = / --join-token (\S+)$/.exec(command)?.[1] ?? '';
    const state = { PARALLAX_PROBE_STATE_DIR: path.join(dataDir, 'elsewhere') };
    const [register = [], run = []] = blockWith('probe-agent -- register')
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    const filled = register.map((word) =>
      word.replace('parallax.example.org:9444', `${outsideAddress()}:${ports.enrolment}`).replace('TOKEN', token),
    );
    t.match(filled.join(' '), command, 'what README.md says is what is printed');
    const [program = '', ...args] = filled;
    const registered = await runToEnd(startCommand(program, args, state), 'register');
    t.match(registered, /registered as probe \d+ "helsinki-1" in region "eu-north"/);
    const agent = startCommand(program, run.slice(1), state);
    t.teardown(() => agent.kill('SIGTERM'));
    const account = { email: 'you@example.org', password: 'correct horse battery' };
    const nobody = apiClient(baseUrl);
    const { access_token } = await nobody.call<{ access_token: string }>('POST', '/api/v1/auth/login', 200, account);
    const names = await eventually('both probes online', async () => {
      const { probes } = await nobody
        .withToken(access_token)
        .call<{ probes: { name: string; health: { status: string } }[] }>('GET', '/api/v1/probes', 200);
      const online = probes.filter(({ health }) => health.status === 'online');
      return online.length === 2 && online.map(({ name }) => name).sort();
    });
    t.same(names, ['helsinki-1', 'local-1']);
    const tree = processTree(agent.pid);
    agent.kill('SIGTERM');
    await eventually('the end of the agent with npm', async () => !tree.some(isRunning));
  });
});
