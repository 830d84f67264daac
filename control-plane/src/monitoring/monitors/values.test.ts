import { createMonitorSchema, updateMonitorSchema } from '@parallax/api-contract';
import t from 'tap';
import type { MonitorRow } from './queries.ts';
import { changedMonitor, newMonitor } from './values.ts';

const selfHosted = { plan: 'self_hosted', minimumIntervalSeconds: 1, unconfirmedIntervalSeconds: 0 };
const free = { plan: 'free', minimumIntervalSeconds: 60, unconfirmedIntervalSeconds: 0 };

const make = (body: Record<string, unknown>, limits = selfHosted) =>
  newMonitor(createMonitorSchema.parse({ workspace_id: 1, url: 'https://example.com/', ...body }), 'name', limits);

const stored = (body: Record<string, unknown> = {}): MonitorRow => {
  const { settings, ...values } = make(body);
  return {
    ...values,
    id: 1,
    workspace_id: 1,
    owner_id: 1,
    shard: 0,
    settings: { ...settings.open },
    sealed_secrets: null,
    secret_fields: Object.keys(settings.secret),
    version: 1,
    probe_revision: 1,
    created_at: 0,
  };
};

const change = (
  row: MonitorRow,
  body: Record<string, unknown>,
  secrets: Record<string, unknown> = {},
  limits = selfHosted,
) => changedMonitor(row, secrets, updateMonitorSchema.parse(body), limits);

void t.test('a new monitor has the documented defaults', async (t) => {
  t.match(make({}), {
    protocol: 'https',
    interval_seconds: 60,
    timeout_seconds: 10,
    confirmations: 2,
    consensus_policy: 'majority',
    degraded_threshold_ms: null,
    tags: [],
    wanted_probe_ids: null,
    certificate_thresholds_days: [30, 14, 7, 3, 1],
    domain_thresholds_days: [30, 14, 7, 1],
    is_active: true,
  });
  t.equal(make({ interval_seconds: 4 }).timeout_seconds, 4, 'the timeout is no longer than the interval');
});

void t.test('an interval below the minimum of the plan is refused, and says which', async (t) => {
  t.throws(() => make({ interval_seconds: 59 }, free), {
    code: 'interval_below_plan',
    message: /59.*"free".*60 seconds/,
  });
  t.equal(make({ interval_seconds: 60 }, free).interval_seconds, 60);
  const row = stored({ interval_seconds: 30 });
  t.throws(() => change(row, { interval_seconds: 31 }, {}, free), { code: 'interval_below_plan' });
  t.equal(
    change(row, { interval_seconds: 30, name: 'x' }, {}, free).values.interval_seconds,
    30,
    'what is stored stays',
  );
});

void t.test('saying nothing new is no change', async (t) => {
  t.equal(change(stored(), {}).isChange, false);
  t.equal(change(stored({ method: 'HEAD' }), { settings: { method: 'HEAD' }, tags: [] }).isChange, false);
});

void t.test('only a change of what is checked starts anew, and probes are told what they need', async (t) => {
  const row = stored();
  const flags = (body: Record<string, unknown>) => {
    const { isChange, checkedChanged, choosesProbes, tellsProbes } = change(row, body);
    return [isChange, checkedChanged, choosesProbes, tellsProbes];
  };
  t.same(flags({ name: 'other' }), [true, false, false, false]);
  t.same(flags({ tags: ['a'] }), [true, false, false, false]);
  t.same(flags({ consensus_policy: 'all' }), [true, false, false, false]);
  t.same(flags({ interval_seconds: 30 }), [true, false, false, true]);
  t.same(flags({ timeout_seconds: 5 }), [true, false, false, true]);
  t.same(flags({ confirmations: 3 }), [true, false, false, true]);
  t.same(flags({ url: 'https://example.org/' }), [true, true, false, true]);
  t.same(flags({ settings: { method: 'HEAD' } }), [true, true, true, true]);
  t.same(flags({ probe_ids: [3] }), [true, false, true, false]);
  t.same(flags({ url: 'tcp://example.com:1', protocol: 'tcp' }), [true, true, true, true]);
});

void t.test('secrets stay with their destination and go when it changes', async (t) => {
  const row = stored({ settings: { username: 'ada' } });
  const secrets = { password: 'hidden' };
  t.same(change(row, { url: 'https://example.com/other' }, secrets).values.settings.secret, secrets);
  t.same(change(row, { settings: { method: 'HEAD' } }, secrets).values.settings.secret, secrets);
  t.same(change(row, { url: 'https://evil.test/' }, secrets).values.settings.secret, {});
  t.same(change(row, { url: 'http://example.com/' }, secrets).values.settings.secret, {});
  t.same(change(row, { url: 'https://evil.test/', settings: { password: 'new' } }, secrets).values.settings.secret, {
    password: 'new',
  });
  t.same(change(row, { url: 'tcp://example.com:443', protocol: 'tcp' }, secrets).values.settings, {
    open: { payload_format: 'text' },
    secret: {},
  });
});

void t.test('a web address may change its scheme; its protocol follows', async (t) => {
  t.equal(change(stored(), { url: 'http://example.com/' }).values.protocol, 'http');
  t.throws(() => change(stored(), { url: 'tcp://example.com:1' }), { code: 'invalid_input' });
});

void t.test('null goes back to the default', async (t) => {
  const row = stored({
    timeout_seconds: 30,
    confirmations: 5,
    tags: ['a'],
    degraded_threshold_ms: 5,
    description: 'd',
    interval_seconds: 7,
  });
  t.match(
    change(row, {
      timeout_seconds: null,
      confirmations: null,
      tags: null,
      degraded_threshold_ms: null,
      description: null,
    }).values,
    {
      timeout_seconds: 7,
      confirmations: 2,
      tags: [],
      degraded_threshold_ms: null,
      description: '',
    },
  );
});

void t.test('probes are named or regions are, not both', async (t) => {
  t.throws(() => make({ probe_ids: [1], regions: ['eu'] }), { code: 'invalid_input' });
  t.throws(() => change(stored({ probe_ids: [1] }), { regions: ['eu'] }), { code: 'invalid_input' });
  t.same(change(stored({ probe_ids: [1] }), { regions: ['eu'], probe_ids: null }).values.wanted_regions, ['eu']);
});

void t.test(
  'a secret without which the settings are no good is kept, and does not follow to another place',
  async (t) => {
    const oauth = { token_url: 'https://login.example.com/token', client_id: 'id', client_secret: 'hidden' };
    const row = stored({ settings: oauth });
    const secrets = { client_secret: 'hidden' };
    t.same(change(row, { name: 'other' }, secrets).values.settings.secret, secrets);
    t.same(change(row, { settings: { scope: 'read' } }, secrets).values.settings.secret, secrets);
    for (const body of [
      { url: 'https://elsewhere.example.com/' },
      { settings: { token_url: 'https://evil.example.com/' } },
    ])
      t.throws(() => change(row, body, secrets), { code: 'invalid_input' }, 'it has to be sent again');
  },
);

void t.test('an edition of a stored monitor takes its secrets over, and nothing else', async (t) => {
  const row = stored({ settings: { username: 'ada', password: 'hidden' }, method: 'HEAD' });
  const edited = { stored: row, secrets: { password: 'hidden' } };
  const edition = (body: Record<string, unknown>) =>
    newMonitor(createMonitorSchema.parse({ workspace_id: 1, url: row.url, ...body }), 'name', selfHosted, edited)
      .settings;
  t.match(edition({ settings: { username: 'ada' } }), {
    open: { method: 'GET', username: 'ada' },
    secret: { password: 'hidden' },
  });
  t.same(edition({ settings: { username: 'ada', password: 'new' } }).secret, { password: 'new' });
  t.same(edition({ settings: { username: 'ada', password: null } }).secret, {});
  for (const body of [
    { url: 'https://elsewhere.example.com/' },
    { url: 'http://example.com/' },
    { url: 'https://example.com:444/' },
  ])
    t.same(edition({ ...body, settings: { username: 'ada' } }).secret, {}, JSON.stringify(body));
  t.same(edition({ protocol: 'tcp', url: 'example.com:1' }).secret, {}, 'nor to another protocol');
});

void t.test('probes are chosen anew when the target needs something else of them', async (t) => {
  const row = stored({ protocol: 'docker', url: 'tcp://docker.example.com', settings: { container: 'web' } });
  t.equal(change(row, { url: 'unix:///run/docker.sock' }).choosesProbes, true);
  t.equal(change(row, { url: 'tcp://other.example.com' }).choosesProbes, false);
});

void t.test('secrets of an api check stay while the steps that name them stay on their hosts', async (t) => {
  const step = (url: string) => [{ url, headers: { authorization: 'Bearer {{token}}' } }, { url: '/x' }];
  const secrets = { secrets: { token: 'hush-hush' } };
  const row = stored({ protocol: 'api', settings: { steps: step('/login'), ...secrets } });
  t.same(row.secret_fields, ['secrets']);
  t.notMatch(JSON.stringify(row.settings), 'hush');
  const secretOf = (settings: object) => change(row, { settings }, secrets).values.settings.secret;
  t.same(secretOf({ steps: step('/other') }), secrets, 'another path');
  t.same(
    secretOf({ steps: [...step('/login'), { url: 'https://elsewhere.test/' }] }),
    secrets,
    'a step that names none',
  );
  t.same(secretOf({ steps: step('https://elsewhere.test/login') }), {}, 'a step elsewhere');
  t.same(secretOf({ steps: step('https://{{h}}/'), variables: { h: 'elsewhere.test' } }), {}, 'by a variable');
  t.same(secretOf({ steps: step('https://elsewhere.test/'), ...secrets }), secrets, 'sent again');
  t.same(change(row, { url: 'https://elsewhere.test/' }, secrets).values.settings.secret, {}, 'the target itself');
});
