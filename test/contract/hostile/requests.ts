import { problems } from '@parallax/api-contract';
import type { ProblemCode, RouteContract } from '@parallax/api-contract';
import { isWhole, sampleSeed } from '@parallax/testkit/extent';
import type { Test } from 'tap';
import { capabilities } from '../../../control-plane/src/capabilities.ts';
import { hostileRequests } from '../../../control-plane/src/platform/http/testing.ts';
import type { HostileRequest } from '../../../control-plane/src/platform/http/testing.ts';
import { openWorld } from '../world.ts';
import { leftOut, sampleOf } from './sample.ts';

const maintenance = {
  workspace_id: 1,
  name: 'x',
  scope: { tags: ['a'] },
  // It may begin up to five years ahead.
  starts_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
  duration_seconds: 3_600,
  rrule: 'FREQ=WEEKLY',
  timezone: 'Europe/Berlin',
};

const alert = {
  workspace_id: 1,
  name: 'x',
  scope: { subjects: [{ type: 'monitor', id: 1 }], tags: ['a'] },
  events: ['monitor.down'],
  steps: [
    { after_seconds: 0, targets: [{ channel: 'email', target: 'x@example.com', locale: 'en', timezone: 'UTC' }] },
  ],
  min_duration_seconds: 60,
  reminder_interval_seconds: 60,
  failover: { channel: 'email' },
  quiet_hours: {
    timezone: 'Europe/Berlin',
    windows: [{ days: [1, 7], start: '22:00', end: '07:00' }],
    except_severity: 'critical',
  },
  muted_until: null,
};

const { workspace_id: _workspace, ...alertChange } = alert;

/** Bodies that a route would take, whose fields are spoiled one by one. */
const valid: Readonly<Record<string, Record<string, unknown>>> = {
  '/api/v1/auth/register': { email: 'x@example.com', password: 'passwort' },
  '/api/v1/auth/login': { email: 'x@example.com', password: 'x' },
  '/api/v1/auth/refresh': { refresh_token: 'plr_x' },
  '/api/v1/auth/change-password': { current_password: 'x', new_password: 'a rather long phrase 8' },
  '/api/v1/auth/forgot-password': { email: 'x@example.com' },
  '/api/v1/auth/reset-password': { token: 'x', new_password: 'a rather long phrase 8' },
  '/api/v1/auth/confirm-email': { token: 'x' },
  '/api/v1/auth/change-email': { new_email: 'x@example.com', password: 'x' },
  '/api/v1/auth/me': { display_name: 'x', locale: 'en', timezone: 'UTC' },
  '/api/v1/auth/me/locale': { locale: 'en' },
  '/api/v1/auth/me/timezone': { timezone: 'UTC' },
  '/api/v1/api-keys': { name: 'x' },
  '/api/v1/workspaces': { name: 'x' },
  '/api/v1/workspaces/:id': { name: 'x' },
  '/api/v1/workspaces/:id/members': { email: 'x@example.com', role: 'viewer' },
  '/api/v1/workspaces/:id/members/:member_id': { role: 'viewer' },
  '/api/v1/workspaces/:id/invites': { role: 'viewer' },
  '/api/v1/workspaces/:id/transfer': { member_id: 1 },
  '/api/v1/workspaces/invites/accept': { token: 'x' },
  '/api/v1/auth/tokens': { name: 'x' },
  '/api/v1/probes/join-tokens': { name: 'x', region: 'y' },
  '/api/v1/probes/:probe_id': { name: 'x', region: 'y', is_paused: false },
  '/api/v1/monitors': {
    workspace_id: 1,
    name: 'x',
    url: 'http://127.0.0.1:1/',
    protocol: 'http',
    interval_seconds: 86_400,
    timeout_seconds: 1,
    confirmations: 2,
    consensus_policy: 'majority',
    degraded_threshold_ms: 100,
    settings: { method: 'GET', headers: { accept: '*/*' }, keyword: 'x', expected_status: [200] },
    tags: ['a'],
    probe_ids: null,
    regions: null,
  },
  '/api/v1/monitors/test': {
    url: 'http://127.0.0.1:1/',
    protocol: 'http',
    monitor_id: 1,
    timeout_seconds: 1,
    interval_seconds: 60,
    settings: { method: 'GET', headers: { accept: '*/*' }, keyword: 'x', expected_status: [200] },
    probe_ids: null,
    regions: null,
  },
  '/api/v1/heartbeats': { name: 'x', schedule_type: 'cron', schedule: '* * * * *', timezone: 'UTC', tags: ['a'] },
  '/api/v1/heartbeats/:id': { name: 'x', slug: 'x', grace_period_seconds: 1 },
  '/api/v1/webhook-checks': {
    workspace_id: 1,
    name: 'x',
    tags: ['a'],
    signature: 'custom_hmac',
    custom_hmac: { header: 'x-mine', encoding: 'hex', prefix: 'v1=', algorithm: 'sha256', id_header: 'x-id' },
    secret: 'a long secret',
    expected_interval_seconds: 60,
    grace_period_seconds: 1,
    rules: [{ path: '$.a', op: 'equals', value: 1, status: 'down' }],
  },
  '/api/v1/webhook-checks/:id': {
    name: 'x',
    signature: 'github',
    secret: 'a long secret',
    rules: [{ path: null, op: 'matches', value: 'a+', status: 'down' }],
  },
  '/api/v1/webhook-checks/:id/regenerate-secret': { secret: 'a long secret', grace_seconds: 1 },
  '/api/v1/alert-channel-configs': { channel: 'email', name: 'x', settings: {}, is_active: true },
  '/api/v1/alert-channel-configs/:config_id': { name: 'x', settings: {}, is_active: true },
  '/api/v1/alert-channel-configs/:config_id/test': { target: 'x@example.com' },
  '/api/v1/alert-channel-configs/mail-confirmations': { target: 'x@example.com' },
  '/api/v1/alerts/test-send': { channel: 'email', target: 'x@example.com', settings: {} },
  '/api/v1/web-push/subscribe': {
    endpoint: 'https://push.example.com/x',
    // The base point of P-256 is a public key like any other.
    keys: {
      p256dh: 'BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU',
      auth: 'AAAAAAAAAAAAAAAAAAAAAA',
    },
    expiration_time: 4_102_444_800_000,
    user_agent: 'x',
    name: 'x',
  },
  '/api/v1/web-push/unsubscribe': { endpoint: 'https://push.example.com/x' },
  '/api/v1/feedback': { kind: 'bug', message: 'x', page: '/x', may_contact: true },
  '/api/v1/feedback/:id/status': { status: 'seen', reply: 'x' },
  '/api/v1/incidents': { workspace_id: 1, title: 'x', monitor_ids: [1] },
  '/api/v1/incident-templates': {
    workspace_id: 1,
    name: 'x',
    title: 'x',
    severity: 'minor',
    public_title: 'x',
    update: { kind: 'identified', body: 'x' },
  },
  '/api/v1/incident-templates/:id': { name: 'y', title: 'y', update: null },
  '/api/v1/incidents/:incident_id': { title: 'x', severity: 'minor' },
  '/api/v1/incidents/:incident_id/updates': { kind: 'note', body: 'x', is_public: false },
  '/api/v1/alerts': alert,
  '/api/v1/alerts/:alert_id': alertChange,
  '/api/v1/alerts/:alert_id/snooze': { minutes: 5 },
  '/api/v1/alerts/preview': { workspace_id: 1, event: 'monitor.down', subject: { type: 'monitor', id: 1 } },
  '/api/v1/webhooks': {
    workspace_id: 1,
    name: 'w',
    url: 'https://hooks.example/',
    events: ['*'],
    scope: { all: true },
    headers: { a: 'b' },
  },
  '/api/v1/webhooks/:id': { name: 'v', url: 'https://other.example/', max_per_second: 5 },
  '/api/v1/webhooks/:id/redeliver': { since: '2026-01-01T00:00:00Z', only: 'all' },
  '/api/v1/scheduled-reports': {
    workspace_id: 1,
    name: 'r',
    scope: { all: true },
    slo_target: 99,
    locale: 'en',
    frequency: 'daily',
    timezone: 'UTC',
    week_starts: 1,
    send_at: '08:00',
    recipients: [{ address: 'a@b.example', locale: 'en' }],
    formats: ['pdf'],
    compare: true,
  },
  '/api/v1/scheduled-reports/:id': { name: 's', send_at: '09:00', recipients: [{ address: 'c@d.example' }] },
  '/api/v1/scheduled-reports/:id/run': { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', deliver: false },
  '/api/v1/status-pages': {
    workspace_id: 1,
    name: 'p',
    description: 'x',
    slug: 'hostile',
    is_published: true,
    items: [{ type: 'monitor', id: 1, display_name: 'm', description: 'x', group: 'g', only_if_degraded: true }],
    locale: 'en',
    locales: ['en'],
    timezone: 'UTC',
    days: 30,
    theme: { scheme: 'light', light: { text: '#000000', background: '#ffffff' }, font: 'mono', radius: 1 },
    links: [{ label: 'x', url: 'https://x.example/' }],
    announcement: { text: 'x', until: '2099-01-01T00:00:00Z' },
    embed_origins: ['https://x.example'],
    delay_minutes: 1,
    subscribe: ['email', 'webhook'],
    domain: 'hostile.example',
    password: 'correct horse',
    allowed_mail_domains: ['x.example'],
    allowed_addresses: ['192.0.2.0/24'],
  },
  '/api/v1/status-pages/preview': {
    workspace_id: 1,
    name: 'p',
    items: [{ type: 'monitor', id: 1, group: 'g' }],
    theme: { scheme: 'light' },
    announcement: { text: 'x' },
  },
  '/api/v1/status-pages/:id': {
    name: 'q',
    slug: 'hostile-too',
    items: [{ type: 'monitor', id: 2, group: 'g' }],
    theme: { dark: { accent: '#ff8800' } },
    announcement: { text: 'y' },
  },
  '/api/v1/status-pages/:id/monitors': { monitor_ids: [3] },
  '/api/v1/status-pages/:id/subscribers': {
    subscribers: [{ kind: 'email', target: 'x@example.com', component_ids: ['aaaaaaaaaaaa'], locale: 'en' }],
  },
  '/api/v1/badges': { workspace_id: 1, type: 'monitor', id: 1 },
  '/api/v1/maintenance': maintenance,
  '/api/v1/maintenance/:id': maintenance,
  '/api/v1/maintenance/preview': maintenance,
  '/api/v1/monitors/:monitor_id': { name: 'y', url: 'http://127.0.0.1:1/', interval_seconds: 60, tags: ['b'] },
};

/** Each parameter and field of a route meets one in so many of the hostile values. */
const oneIn = isWhole ? 1 : 8;

const signalForms = new Set(['/api/v1/ping/:ping_key/:slug', '/ping/:place/:signal', '/api/push/:token']);

/**
 * Sends what is hostile to routes, and fails for each answer that is our fault. The routes are divided among several tests, since a slow machine
 * answers some thousands of requests in the time of one.
 * @param isMine which routes
 * @param least of those, in numbers: fewer were forgotten
 */
export async function sendHostile(t: Test, isMine: (path: string) => boolean, least: number): Promise<void> {
  const world = await openWorld(t);
  for (let number = 0; number < 3; number += 1) await world.monitor();
  // What the number 1 in a path stands for.
  for (const path of [
    '/api/v1/heartbeats',
    '/api/v1/webhook-checks',
    '/api/v1/incidents',
    '/api/v1/incident-templates',
    '/api/v1/maintenance',
    '/api/v1/alerts',
    '/api/v1/webhooks',
    '/api/v1/feedback',
    '/api/v1/scheduled-reports',
    '/api/v1/status-pages',
    '/api/v1/badges',
  ]) {
    await world.make('POST', `${path}${path.endsWith('heartbeats') ? '?workspace_id=1' : ''}`, valid[path]);
  }
  const contracts = capabilities
    .flatMap((capability) => capability.routes?.(world.context) ?? [])
    .map((route) => route.contract)
    .filter(({ path }) => isMine(path))
    // All signals have one handler: one of each form of address is tried.
    .filter(({ tag, path }) => tag !== 'Pings' || signalForms.has(path));
  const statuses = new Map<number, number>();

  const send = async (contract: RouteContract, hostile: HostileRequest, token: string): Promise<void> => {
    const forwarded = hostile.headers['x-forwarded-for'];
    const answer = await world.call(hostile.method, hostile.target, {
      ...(hostile.body === undefined ? {} : { body: hostile.body }),
      headers: hostile.headers,
      token,
      ...(forwarded === undefined ? {} : { from: forwarded }),
    });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status < 400) return;
    // No ingest and no probe run here, and the routes that say so answer 503 with a code of their own or their own body.
    const isHealth = hostile.target.startsWith('/health');
    const code = answer.body['code'] as ProblemCode;
    const isProblem =
      answer.headers.get('content-type') === 'application/problem+json' && problems[code]?.status === answer.status;
    // A link that does not work is a page to who opens it.
    const isPage =
      (answer.status === contract.alternative?.status || contract.pages?.includes(answer.status) === true) &&
      contract.success.contentType !== undefined &&
      answer.headers.get('content-type') === contract.success.contentType;
    const isOurs = answer.status >= 500 && !['probe_unreachable', 'busy'].includes(code);
    // One assertion for each fault and not for each request, of which there are thousands.
    if (!isHealth && !isPage && (isOurs || !isProblem))
      t.fail(`${hostile.name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    const text = isPage ? answer.text : JSON.stringify(answer.body);
    if (/node_modules|\.ts:\d|select |insert |sqlstate|slonik/i.test(text)) t.fail(`${hostile.name} tells: ${text}`);
  };

  const all = contracts.map((contract) => ({
    contract,
    route: `${contract.method} ${contract.path}`,
    requests: hostileRequests(contract, valid[contract.path]),
  }));
  const sample = sampleOf(all, oneIn, sampleSeed);
  const sent = new Map(sample.map(({ route, requests }) => [route, requests]));
  for (const { contract, route } of all) {
    // The credentials must outlive the table.
    const token = contract.path.includes('logout') ? 'x' : world.token;
    const waiting = [...(sent.get(route) ?? [])];
    const worker = async (): Promise<void> => {
      for (let hostile = waiting.pop(); hostile !== undefined; hostile = waiting.pop())
        await send(contract, hostile, token);
    };
    await Promise.all(Array.from({ length: 12 }, worker));
  }
  const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  t.ok(contracts.length >= least, `${contracts.length} routes`);
  const possible = all.reduce((sum, { requests }) => sum + requests.length, 0);
  t.ok(possible > 40 * least, `of ${possible} requests`);
  t.ok(total >= possible / oneIn / 2, `${total} were sent: ${JSON.stringify(Object.fromEntries(statuses))}`);
  t.same(
    leftOut(all, sample),
    [],
    'every parameter and field of every route is tried, and every hostile part somewhere',
  );
  t.comment(`1 in ${oneIn}, seed ${sampleSeed}: ${contracts.length} routes, ${total} of ${possible} requests`);
  t.equal((await world.call('GET', '/api/v1/auth/me', { token: world.token })).status, 200, 'and it still works');
}
