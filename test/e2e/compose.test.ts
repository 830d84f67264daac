import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { agentSettings, controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Setting } from '@parallax/settings';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import { apiClient } from '../harness/api-client.ts';
import { composePath, healthcheckOf, imageOf, readCompose, readImageFile, startOrder } from '../harness/compose.ts';
import type { ComposeService } from '../harness/compose.ts';
import { runCompose } from '../harness/compose-run.ts';
import type { RunningCompose } from '../harness/compose-run.ts';
import { eventually, root, runNode } from '../harness/processes.ts';
import { startTarget } from '../harness/target.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const imageFiles = ['deploy/docker/control-plane.Dockerfile', 'deploy/docker/probe-agent.Dockerfile'];
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
const isProbe = (service: ComposeService) => service.image.startsWith('parallax/probe-agent');

t.test('Compose accepts the file', async (t) => {
  if (!needs(t, 'docker-compose')) return;
  await t.resolves(promisify(execFile)('docker-compose', ['-f', composePath, 'config', '-q']));
});

t.test('every image is pinned to a version', async (t) => {
  for (const [name, { image, build }] of services) {
    if (build === undefined) t.match(image, /^[a-z]+:\d+\.\d+(\.\d+)?-[a-z0-9.]+$/, name);
    else t.equal(image.split(':')[1], version, name);
  }
  for (const file of imageFiles) {
    const image = readImageFile(file);
    for (const base of image.bases) t.match(base, /^(node:24-bookworm-slim|debian:bookworm-slim)( AS [a-z]+)?$/, file);
    t.equal(image.labels['org.opencontainers.image.version'], version, file);
    t.equal(image.labels['org.opencontainers.image.licenses'], 'Apache-2.0');
    for (const source of image.sources) t.ok(existsSync(path.join(root, source)), `${file} copies ${source}`);
  }
});

t.test('every service has the least that it needs', async (t) => {
  for (const [name, service] of services) {
    t.ok(service.read_only, `${name} cannot write to its image`);
    t.same(service.cap_drop, ['ALL'], name);
    t.same(service.cap_add, isProbe(service) ? ['NET_RAW'] : [], name);
    // The capability of fping comes with its file, which no-new-privileges would forbid.
    t.same(service.security_opt, isProbe(service) ? [] : ['no-new-privileges:true'], name);
    const user = service.user ?? imageOf(service)?.user;
    t.match(user, /^[1-9]\d*:[1-9]\d*$/, `${name} is not root`);
    t.match(service.logging.options, { 'max-size': /^\d+m$/, 'max-file': /^\d$/ }, name);
    t.ok(['no', 'unless-stopped'].includes(service.restart), name);
    for (const mount of service.volumes) t.match(mount, /^[a-z-]+:\/[a-z/]+(:ro)?$/, `${name}: no folder of the host`);
    for (const port of service.ports) t.match(port, /^127\.0\.0\.1:/, `${name} is published to this machine only`);
    t.ok(service.network_mode === undefined || service.network_mode === 'none', name);
  }
  for (const file of imageFiles) t.match(readImageFile(file).user, /^1000:1000$/, file);
  const probeImage = readFileSync(path.join(root, 'deploy/docker/probe-agent.Dockerfile'), 'utf8');
  t.match(probeImage, /-perm \/6000 -exec chmod a-s/, 'nothing in the image of a probe gives its user more');
});

t.test('the database is reached by those that need it, and volumes by those that are named', async (t) => {
  const on = (network: string) =>
    services.filter(([, { networks }]) => networks.includes(network)).map(([name]) => name);
  t.same(on('database').toSorted(), ['control-plane', 'join-tokens', 'postgres', 'prepare']);
  t.equal(compose.networks['database']?.internal, true);
  t.notOk(on('probes').includes('postgres'));
  const used = new Map<string, string[]>();
  for (const [name, { volumes }] of services)
    for (const mount of volumes) {
      const [volume = '', , mode = 'rw'] = mount.split(':');
      used.set(volume, [...(used.get(volume) ?? []), `${name} ${mode}`]);
    }
  t.same([...used.keys()].toSorted(), Object.keys(compose.volumes).toSorted());
  t.same(
    used.get('secrets')?.filter((user) => user.endsWith('rw')),
    ['database-secrets rw'],
  );
  t.notOk(used.get('secrets')?.some((user) => user.startsWith('probe')));
  t.notOk(used.get('data')?.some((user) => user.startsWith('probe') || user.startsWith('nats')));
  for (const probe of ['probe-eu', 'probe-us', 'probe-ap']) t.same(used.get(probe), [`${probe} rw`]);
});

t.test(
  'no secret stands in the file or in an image, and every variable is a setting with a value that fits',
  async (t) => {
    const secretNames = new Set(
      [controlPlaneSettings, agentSettings].flatMap(({ prefix, settings }) =>
        Object.entries<Setting>(settings)
          .filter(([, { secret }]) => secret === true)
          .map(([key]) => prefix + key),
      ),
    );
    for (const [name, service] of services) {
      const environment = { ...imageOf(service)?.environment, ...service.environment };
      for (const [key, value] of Object.entries(environment)) {
        t.notOk(secretNames.has(key) || key === 'POSTGRES_PASSWORD', `${name}: ${key} is given by file`);
        t.notMatch(value, /:\/\/[^/]*@/, `${name}: ${key} has no password in it`);
      }
      if (!name.startsWith('probe') && service.build === undefined) continue;
      const definition = isProbe(service) ? agentSettings : controlPlaneSettings;
      const files = Object.entries(environment).filter(([key]) => key.endsWith('_FILE'));
      for (const [key] of files) t.ok(key.slice(definition.prefix.length, -'_FILE'.length) in definition.settings, key);
      const plain = Object.fromEntries(Object.entries(environment).filter(([key]) => !key.endsWith('_FILE')));
      t.doesNotThrow(() => readSettings(definition as typeof controlPlaneSettings, plain), name);
    }
    for (const file of imageFiles)
      for (const [instruction, rest] of readImageFile(file).instructions)
        t.notMatch(`${instruction} ${rest}`, /^ARG |PASSWORD|SECRET|_KEY\b|JOIN_TOKEN/, `${file}: ${instruction}`);
    t.equal(
      readFileSync(path.join(root, '.dockerignore'), 'utf8').split('\n')[1],
      '*',
      'images see what is named only',
    );
  },
);

t.test('every command and flag is in the help of its program', async (t) => {
  const wanted = new Map<string, { readonly usage: string; readonly flags: readonly string[] }>();
  for (const [name, service] of services) {
    const image = imageOf(service);
    if (image === undefined) continue;
    const words = service.command ?? image.command;
    const subcommands = words.slice(0, words.findIndex((word) => word.startsWith('--')) >>> 0);
    const program = isProbe(service) ? 'probe-agent' : 'control-plane';
    if (program === 'control-plane')
      t.ok(existsSync(image.entrypoint[1]?.replace('/app', root) ?? ''), `${name}: the program is in the image`);
    wanted.set(`${program} ${subcommands.join(' ')}`, {
      usage: `Usage: ${program} ${subcommands.join(' ')} `,
      flags: words.filter((word) => word.startsWith('--')),
    });
  }
  await Promise.all(
    [...wanted].map(async ([line, { usage, flags }]) => {
      const [program, ...subcommands] = line.split(' ');
      const help = await runNode([`${program}/src/main.ts`, ...subcommands, '--help'], {}, 90_000);
      t.match(help, usage);
      for (const flag of flags) t.match(help, `${flag} <`, `${line} ${flag}`);
    }),
  );
});

t.test('what waits for the health of another waits for something that is looked at', async (t) => {
  for (const [name, { depends_on: needs }] of services)
    for (const [needed, { condition }] of Object.entries(needs)) {
      const service = compose.services[needed];
      if (service === undefined) throw new Error(`${name} waits for ${needed}, which is no service`);
      if (condition === 'service_healthy') t.ok(healthcheckOf(service), `${name} waits for ${needed}`);
      else t.equal(service.restart, 'no', `${name} waits for the end of ${needed}`);
    }
  const order = startOrder(compose);
  t.ok(order.indexOf('postgres') < order.indexOf('prepare') && order.indexOf('prepare') < order.indexOf('nats'));
  t.ok(order.indexOf('control-plane') < order.indexOf('probe-eu'));
});

type Monitor = { id: number; status: string };
type Results = { results: { probe_id: number | null; created_at: string; error_code: string | null }[] };

t.test('started as plain processes, the services become the product', { timeout: 400_000 }, async (t) => {
  const target = await startTarget();
  const probes = ['probe-eu', 'probe-us', 'probe-ap'];
  const local = { PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' };
  const running = await runCompose(compose, Object.fromEntries(probes.map((name) => [name, local])));
  t.teardown(async () => {
    await running.stop();
    await target.close();
  });
  const firstOutput = await running.up();
  t.match(firstOutput['prepare'], /migrated: .*0001/);
  t.match(firstOutput['join-tokens'], /probe-eu: has a new token/);

  const nobody = apiClient(`http://${running.address(8080)}`);
  const account = { email: 'first@example.org', password: 'a long enough passphrase' };
  await nobody.call('POST', '/api/v1/auth/register', 403, account);
  const token = /set-up token (pls_\S+?)["\s]/.exec(running.output('control-plane'))?.[1];
  t.ok(token, 'the set-up token stands in the log of the control plane');
  await nobody.call('POST', '/api/v1/auth/register', 201, { ...account, setup_token: token });
  const { access_token } = await nobody.call<{ access_token: string }>('POST', '/api/v1/auth/login', 200, account);
  const api = nobody.withToken(access_token);
  const { workspaces } = await api.call<{ workspaces: { id: number }[] }>('GET', '/api/v1/workspaces', 200);

  const online = () =>
    soon('three probes online', async () => {
      const { probes: listed } = await api.call<{
        probes: { id: number; name: string; region: string; health: { status: string } }[];
      }>('GET', '/api/v1/probes', 200);
      const there = listed.filter((probe) => probe.health.status === 'online');
      return there.length === 3 && there;
    });
  t.same((await online()).map(({ name, region }) => `${name} ${region}`).toSorted(), [
    'probe-ap ap-south',
    'probe-eu eu-west',
    'probe-us us-east',
  ]);

  const addMonitor = (name: string, url: string, protocol = 'http') =>
    api.call<Monitor>('POST', '/api/v1/monitors', 201, {
      workspace_id: workspaces[0]?.id,
      name,
      url,
      protocol,
      interval_seconds: 2,
      timeout_seconds: 2,
    });
  const monitor = await addMonitor('the target', target.url);
  const statusIs = (id: number, wanted: string) =>
    soon(`status ${wanted}`, async () => {
      const now = await api.call<Monitor>('GET', `/api/v1/monitors/${id}`, 200);
      if (now.status !== wanted) throw new Error(`it is ${now.status}`);
      return now;
    });
  const votersOf = async (id: number): Promise<ReadonlySet<number>> => {
    const { results } = await api.call<Results>('GET', `/api/v1/monitors/${id}/results?page_size=100`, 200);
    return probesOf(results);
  };
  await statusIs(monitor.id, 'UP');
  await soon('a result of each probe', async () => (await votersOf(monitor.id)).size === 3);

  await t.test('the database and the broker are no targets, although their network is allowed', async () => {
    for (const port of [5432, 4222]) {
      const { id } = await addMonitor(`port ${port}`, `tcp://${running.address(port)}`, 'tcp');
      await soon('every probe to refuse', async () => {
        const { results } = await api.call<Results>('GET', `/api/v1/monitors/${id}/results?page_size=100`, 200);
        const wrong = results.find((result) => result.error_code !== 'address_denied');
        if (wrong !== undefined) throw new Error(`a probe says ${JSON.stringify(wrong)}`);
        return probesOf(results).size === 3;
      });
    }
  });

  await t.test('a repeated up changes nothing', async (t) => {
    const before = filesBelow(running);
    t.same(await running.up(), {
      'database-secrets': `${running.volume('secrets')}: nothing changed\n`,
      prepare: `the installation is up to date\n${running.volume('nats')}: nothing changed\n`,
      'join-tokens': probes
        .map((name) => `${name}: is registered; to register it anew, revoke it first (DELETE /api/v1/probes/ID)\n`)
        .join(''),
    });
    t.same(filesBelow(running), before);
  });

  await t.test('it goes on after nats and the control plane were restarted', async () => {
    for (const service of ['nats', 'control-plane']) {
      await running.restart(service);
      await online();
      const restarted = Date.now();
      await soon(
        `results after the restart of ${service}`,
        async () => ((await newestResult(monitor.id)) ?? 0) > restarted,
      );
    }
    await statusIs(monitor.id, 'UP');
  });

  async function newestResult(id: number): Promise<number | undefined> {
    const { results } = await api.call<Results>('GET', `/api/v1/monitors/${id}/results`, 200);
    const times = results.map((result) => Date.parse(result.created_at));
    return times.length === 0 ? undefined : Math.max(...times);
  }
});

/** The control plane may check beside the probes; it is none of them. */
function probesOf(results: Results['results']): ReadonlySet<number> {
  return new Set(results.flatMap(({ probe_id: probeId }) => (probeId === null ? [] : [probeId])));
}

/** Waits long, since a loaded machine takes its time to start nine processes. */
function soon<Result>(what: string, condition: () => Promise<Result | undefined | false>): Promise<Result> {
  return eventually(what, condition, { timeoutMs: 90_000 });
}

/** What one-shot services write: every file of their volumes with its content's time and size. */
function filesBelow(running: RunningCompose): readonly string[] {
  return ['secrets', 'data', 'tokens', 'nats'].flatMap((volume) =>
    readdirSync(running.volume(volume))
      .map((name) => path.join(running.volume(volume), name))
      .filter((file) => statSync(file).isFile())
      .map((file) => `${file} ${statSync(file).mtimeMs} ${statSync(file).size}`),
  );
}
