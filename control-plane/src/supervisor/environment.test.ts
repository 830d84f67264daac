import { agentSettings, controlPlaneSettings, localTargets, readSettings } from '@parallax/settings';
import t from 'tap';
import { environmentOfAgent, environmentOfServe, settingsOfUp } from './environment.ts';

const ports = { http: 8081, grpc: 9543, enrolment: 9544, nats: 4322 };
const urls = { owner: 'postgresql://o@%2Fs/db', api: 'postgresql://a@%2Fs/db', worker: 'postgresql://w@%2Fs/db' };
const env = {
  PATH: '/bin',
  PARALLAX_REGISTRATION: 'closed',
  PARALLAX_DATABASE_URL_FILE: '/secret/url',
  PARALLAX_KEY_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  PARALLAX_PROBE_MAX_IN_FLIGHT: '7',
  npm_lifecycle_event: 'start',
};
const given = readSettings(controlPlaneSettings, { ...env, PARALLAX_DATABASE_URL_FILE: undefined });
const settings = settingsOfUp(given, '/data', ports);

t.test('up has defaults of its own where nothing was named', (t) => {
  t.match(settings, {
    dataDir: '/data',
    httpPort: 8081,
    localProbes: 1,
    allowedPrivateTargets: [],
    administratorPrivateTargets: localTargets,
    publicUrl: 'http://localhost:8081',
  });
  const named = readSettings(controlPlaneSettings, {
    PARALLAX_LOCAL_PROBES: '0',
    PARALLAX_ALLOWED_PRIVATE_TARGETS: '10.0.0.0/8',
  });
  t.match(settingsOfUp(named, '/data', ports), { localProbes: 0, allowedPrivateTargets: ['10.0.0.0/8'] });
  t.match(settingsOfUp(named, '/data', ports), { allowedPrivateHooks: undefined }, 'messages reach none of it');
  t.end();
});

t.test('private targets are a default of one machine alone, and none can be said', (t) => {
  const privateOf = (more: Record<string, string>) => {
    const up = settingsOfUp(readSettings(controlPlaneSettings, more), '/data', ports);
    const agent = { name: 'local-1', stateDir: '/data/probes/local-1' };
    const serve = readSettings(controlPlaneSettings, environmentOfServe(more, up, urls));
    return [
      serve.allowedPrivateTargets,
      serve.administratorPrivateTargets,
      readSettings(agentSettings, environmentOfAgent(more, up, agent)).allowedPrivateTargets,
    ];
  };
  t.same(privateOf({}), [[], localTargets, localTargets], 'for workspaces of administrators only');
  for (const [name, value] of [
    ['PARALLAX_HTTP_HOST', '0.0.0.0'],
    ['PARALLAX_PUBLIC_URL', 'https://parallax.example.org'],
    ['PARALLAX_TRUSTED_PROXIES', '127.0.0.1'],
    ['PARALLAX_ALLOWED_PRIVATE_TARGETS', 'none'],
  ] as const) {
    t.same(privateOf({ [name]: value }), [[], [], []], `${name}=${value}`);
  }
  const named = { PARALLAX_HTTP_HOST: '0.0.0.0', PARALLAX_ALLOWED_PRIVATE_TARGETS: '10.1.0.0/16' };
  t.same(privateOf(named), [['10.1.0.0/16'], [], ['10.1.0.0/16']], 'what is named is allowed all the same');
  const more = { PARALLAX_HTTP_HOST: '0.0.0.0', PARALLAX_PROBE_ALLOWED_PRIVATE_TARGETS: '10.2.0.0/16' };
  t.same(
    privateOf(more),
    [[], [], ['10.2.0.0/16']],
    'local probes may have a cap for what single workspaces are allowed',
  );
  t.end();
});

t.test('serve reads exactly the settings in force, whatever way they were given', (t) => {
  const read = readSettings(controlPlaneSettings, environmentOfServe(env, settings, urls));
  t.match(read, {
    ...settings,
    databaseUrl: urls.owner,
    databaseApiUrl: urls.api,
    databaseWorkerUrl: urls.worker,
    localProbes: undefined,
  });
  t.equal(environmentOfServe(env, settings, urls)['npm_lifecycle_event'], undefined);
  t.end();
});

t.test('an agent gets its own settings and nothing of the control plane', (t) => {
  const made = environmentOfAgent(env, settings, {
    name: 'local-1',
    stateDir: '/data/probes/local-1',
    joinToken: 'token',
  });
  t.match(readSettings(agentSettings, made), {
    controlPlane: '127.0.0.1:9544',
    name: 'local-1',
    region: 'local',
    stateDir: '/data/probes/local-1',
    joinToken: 'token',
    maxInFlight: 7,
    allowedPrivateTargets: localTargets,
  });
  t.same(
    Object.keys(made).filter((name) => name.startsWith('PARALLAX_') && !name.startsWith('PARALLAX_PROBE_')),
    [],
  );
  t.end();
});
