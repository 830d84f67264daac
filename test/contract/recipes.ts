import { createECDH } from 'node:crypto';
import { issueToken } from '../../control-plane/src/identity/account-tokens/index.ts';
import { signWebapp, signWidget } from '../../control-plane/src/identity/sign-in/messenger/testing.ts';
import { signStandard } from '../../control-plane/src/monitoring/webhook-checks/testing.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import { alertRecipes } from './alert-recipes.ts';
import { heartbeatRecipes } from './heartbeat-recipes.ts';
import { channelRecipes } from './channel-recipes.ts';
import { outage } from './outage.ts';
import { publicStatusRecipes } from './public-status-recipes.ts';
import { reportRecipes } from './report-recipes.ts';
import { statusPageRecipes } from './status-page-recipes.ts';
import { webhookRecipes } from './webhook-recipes.ts';
import type { World } from './world.ts';

/** A call that must succeed. */
export type Prepared = {
  readonly path: string;
  readonly body?: unknown;
  /** An access token of its own, where the call would end the session of the others. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Makes what a row needs and says how to call it. A row that is built and has no recipe fails. */
export type Recipe = (world: World) => Promise<Prepared>;

const plain =
  (path: string): Recipe =>
  async () => ({ path });

const ofMonitor =
  (suffix: string, body?: (world: World) => unknown): Recipe =>
  async (world) => ({
    path: `/api/v1/monitors/${await world.monitor()}${suffix}`,
    ...(body === undefined ? {} : { body: body(world) }),
  });

const password = 'a rather long phrase 7';

/** An incident of a new monitor. */
async function incident(world: World): Promise<number> {
  const monitorId = await world.monitor();
  const title = `contract ${world.unique()}`;
  const made = await world.make('POST', '/api/v1/incidents', {
    workspace_id: world.workspaceId,
    title,
    monitor_ids: [monitorId],
  });
  return Number(made.body['id']);
}

const ofIncident =
  (suffix: string, body?: unknown): Recipe =>
  async (world) => ({
    path: `/api/v1/incidents/${await incident(world)}${suffix}`,
    ...(body === undefined ? {} : { body }),
  });

/** A session of its own, so that ending it harms no other call. */
async function session(world: World): Promise<{ accessToken: string; refreshToken: string }> {
  return world.account(`session${world.unique()}@example.com`);
}

/** A browser as it subscribes. */
function pushSubscription(world: World) {
  const keys = {
    p256dh: createECDH('prime256v1').generateKeys().toString('base64url'),
    auth: Buffer.alloc(16, 1).toString('base64url'),
  };
  return { endpoint: `https://push.example.com/${world.unique()}`, keys };
}

/** A new workspace of the account. */
async function workspace(world: World): Promise<number> {
  return Number((await world.make('POST', '/api/v1/workspaces', { name: `new ${world.unique()}` })).body['id']);
}

/** Somebody invited to a new workspace, whom the owner may change and remove like a member. */
async function invited(world: World): Promise<string> {
  const path = `/api/v1/workspaces/${await workspace(world)}/members`;
  // Past what is mailed in an hour; a test of its own tries that.
  await world.database.worker.query(sql.unsafe`delete from rate_limits where key like 'invite-mails%'`);
  const made = await world.make('POST', path, { email: `invited${world.unique()}@example.com` });
  return `${path}/${String(made.body['id'])}`;
}

/** A session of its own, and the token of an invitation to a workspace of the account. */
async function guest(world: World): Promise<{ workspaceId: number; invite: string; token: string }> {
  const workspaceId = await workspace(world);
  const link = await world.make('POST', `/api/v1/workspaces/${workspaceId}/invites`);
  return { workspaceId, invite: String(link.body['token']), token: (await session(world)).accessToken };
}

/** A token that lets a new account choose another password, as it would stand in a mail. */
async function resetToken(world: World): Promise<string> {
  const { id, email } = await world.account(`reset${world.unique()}@example.com`);
  const scope = { userId: id, workspaceIds: [] };
  return world.database.worker.transaction((transaction) => issueToken(scope, transaction, 'password', email));
}

/** A webhook check of the workspace. */
async function webhookCheck(world: World): Promise<{ path: string; slug: string; secret: string }> {
  const body = { workspace_id: world.workspaceId, name: `contract ${world.unique()}` };
  const made = (await world.make('POST', '/api/v1/webhook-checks', body)).body;
  const path = `/api/v1/webhook-checks/${String(made['id'])}`;
  return { path, slug: String(made['slug']), secret: String(made['secret']) };
}

const ofWebhookCheck =
  (suffix: string, body?: unknown): Recipe =>
  async (world) => ({
    path: `${(await webhookCheck(world)).path}${suffix}`,
    ...(body === undefined ? {} : { body }),
  });

/** An item of feedback of the account. */
async function feedback(world: World): Promise<string> {
  // Past what is sent in a day; a test of its own tries that.
  await world.database.worker.query(sql.unsafe`update feedback set created_at = now() - interval '2 days'`);
  const made = await world.make('POST', '/api/v1/feedback', { kind: 'idea', message: 'A dark theme.' });
  return `/api/v1/feedback/${String(made.body['id'])}`;
}

/** A group of the workspace with one monitor and one tag. */
async function group(world: World): Promise<{ path: string; monitorId: number }> {
  const monitorId = await world.monitor();
  const made = await world.make('POST', '/api/v1/monitor-groups', {
    workspace_id: world.workspaceId,
    name: `contract ${world.unique()}`,
    monitor_ids: [monitorId],
    tags: ['a'],
  });
  return { path: `/api/v1/monitor-groups/${String(made.body['id'])}`, monitorId };
}

/** A time at which nothing of the contract tests happens. */
export const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString();

/** A maintenance of the workspace that is still to come. */
export async function maintenance(world: World, more: object = {}): Promise<string> {
  const made = await world.make('POST', '/api/v1/maintenance', {
    workspace_id: world.workspaceId,
    name: `contract ${world.unique()}`,
    scope: { all: true },
    starts_at: inAMonth,
    duration_seconds: 3_600,
    ...more,
  });
  return `/api/v1/maintenance/${String(made.body['id'])}`;
}

const ofMaintenance =
  (suffix = '', body?: unknown): Recipe =>
  async (world) => ({
    path: `${await maintenance(world)}${suffix}`,
    ...(body === undefined ? {} : { body }),
  });

const ofGroup =
  (suffix: string, body?: (monitorId: number) => unknown): Recipe =>
  async (world) => {
    const { path, monitorId } = await group(world);
    return { path: `${path}${suffix}`, ...(body === undefined ? {} : { body: body(monitorId) }) };
  };

export const recipes: Readonly<Record<string, Recipe>> = {
  'GET /health': plain('/health'),
  'GET /health/liveness': plain('/health/liveness'),
  'GET /health/readiness': plain('/health/readiness'),
  'GET /health/deep': plain('/health/deep'),
  'GET /version': plain('/version'),

  'POST /api/v1/auth/register': async (world) => ({
    path: '/api/v1/auth/register',
    body: { email: `new${world.unique()}@example.com`, password },
  }),
  'POST /api/v1/auth/login': async () => ({
    path: '/api/v1/auth/login',
    body: { email: 'contract@example.com', password },
  }),
  'POST /api/v1/auth/refresh': async (world) => ({
    path: '/api/v1/auth/refresh',
    body: { refresh_token: (await session(world)).refreshToken },
  }),
  'GET /api/v1/auth/me': plain('/api/v1/auth/me'),
  'POST /api/v1/auth/logout': async (world) => {
    const own = await session(world);
    return { path: '/api/v1/auth/logout', body: { refresh_token: own.refreshToken }, token: own.accessToken };
  },
  'POST /api/v1/auth/logout/all': async (world) => ({
    path: '/api/v1/auth/logout/all',
    token: (await session(world)).accessToken,
  }),

  'POST /api/v1/auth/change-password': async (world) => ({
    path: '/api/v1/auth/change-password',
    body: { current_password: password, new_password: 'another long phrase 8' },
    token: (await session(world)).accessToken,
  }),
  'POST /api/v1/auth/forgot-password': async () => ({
    path: '/api/v1/auth/forgot-password',
    body: { email: 'nobody@example.com' },
  }),
  'POST /api/v1/auth/reset-password': async (world) => ({
    path: '/api/v1/auth/reset-password',
    body: { token: await resetToken(world), new_password: 'another long phrase 8' },
  }),
  'GET /api/v1/auth/me/stats': plain('/api/v1/auth/me/stats'),
  'PATCH /api/v1/auth/me/locale': async () => ({ path: '/api/v1/auth/me/locale', body: { locale: 'en' } }),
  'PATCH /api/v1/auth/me/timezone': async () => ({
    path: '/api/v1/auth/me/timezone',
    body: { timezone: 'Europe/Berlin' },
  }),
  'GET /api/v1/users/{user_id}': plain('/api/v1/users/1'),
  'POST /api/v1/auth/messenger/login': async (world) => ({
    path: '/api/v1/auth/messenger/login',
    body: signWidget({ id: world.unique(), auth_date: Math.floor(Date.now() / 1_000) }),
  }),
  'POST /api/v1/auth/messenger/webapp': async (world) => ({
    path: '/api/v1/auth/messenger/webapp',
    body: {
      init_data: signWebapp({
        user: JSON.stringify({ id: world.unique() }),
        auth_date: String(Math.floor(Date.now() / 1_000)),
      }),
    },
  }),
  'GET /api/v1/auth/identity-provider-a/login': plain('/api/v1/auth/identity-provider-a/login'),
  'GET /api/v1/auth/identity-provider-a/callback': plain('/api/v1/auth/identity-provider-a/callback'),
  'GET /api/v1/auth/identity-provider-b/login': plain('/api/v1/auth/identity-provider-b/login'),
  'GET /api/v1/auth/identity-provider-b/callback': plain('/api/v1/auth/identity-provider-b/callback'),

  'GET /api/v1/api-keys': plain('/api/v1/api-keys'),
  'POST /api/v1/api-keys': async () => ({ path: '/api/v1/api-keys', body: { name: 'another' } }),
  'DELETE /api/v1/api-keys/{id}': async (world) => {
    const made = await world.make('POST', '/api/v1/api-keys', { name: 'to be revoked' });
    return { path: `/api/v1/api-keys/${String(made.body['id'])}` };
  },

  'GET /api/v1/web-push/vapid-public-key': plain('/api/v1/web-push/vapid-public-key'),
  'GET /api/v1/web-push/subscriptions': async (world) => {
    await world.make('POST', '/api/v1/web-push/subscribe', {
      ...pushSubscription(world),
      name: `contract ${world.unique()}`,
    });
    return { path: '/api/v1/web-push/subscriptions' };
  },
  'POST /api/v1/web-push/subscribe': async (world) => ({
    path: '/api/v1/web-push/subscribe',
    body: pushSubscription(world),
  }),
  'POST /api/v1/web-push/unsubscribe': async (world) => {
    const body = pushSubscription(world);
    await world.make('POST', '/api/v1/web-push/subscribe', body);
    return { path: '/api/v1/web-push/unsubscribe', body: { endpoint: body.endpoint } };
  },

  'GET /api/v1/workspaces': plain('/api/v1/workspaces'),
  'GET /api/v1/workspaces/default': plain('/api/v1/workspaces/default'),
  'GET /api/v1/workspaces/summary': plain('/api/v1/workspaces/summary'),
  'POST /api/v1/workspaces': async (world) => ({
    path: '/api/v1/workspaces',
    body: { name: `new ${world.unique()}` },
  }),
  'PUT /api/v1/workspaces/{id}': async (world) => ({
    path: `/api/v1/workspaces/${await workspace(world)}`,
    body: { name: `renamed ${world.unique()}` },
  }),
  'DELETE /api/v1/workspaces/{id}': async (world) => ({ path: `/api/v1/workspaces/${await workspace(world)}` }),
  'POST /api/v1/workspaces/{id}/set-default': async (world) => ({
    path: `/api/v1/workspaces/${world.workspaceId}/set-default`,
  }),
  'POST /api/v1/workspaces/{id}/regenerate-ping-key': async (world) => ({
    path: `/api/v1/workspaces/${await workspace(world)}/regenerate-ping-key`,
  }),
  'GET /api/v1/workspaces/{id}/members': async (world) => ({
    path: `/api/v1/workspaces/${world.workspaceId}/members`,
  }),
  'POST /api/v1/workspaces/{id}/members': async (world) => ({
    path: `/api/v1/workspaces/${await workspace(world)}/members`,
    body: { email: `invited${world.unique()}@example.com`, role: 'viewer' },
  }),
  'PATCH /api/v1/workspaces/{id}/members/{member_id}': async (world) => ({
    path: await invited(world),
    body: { role: 'viewer' },
  }),
  'DELETE /api/v1/workspaces/{id}/members/{member_id}': async (world) => ({ path: await invited(world) }),
  'POST /api/v1/workspaces/{id}/invites': async (world) => ({
    path: `/api/v1/workspaces/${await workspace(world)}/invites`,
    body: { role: 'viewer' },
  }),
  'POST /api/v1/workspaces/invites/accept': async (world) => {
    const { invite, token } = await guest(world);
    return { path: '/api/v1/workspaces/invites/accept', body: { token: invite }, token };
  },
  'POST /api/v1/workspaces/{id}/leave': async (world) => {
    const { workspaceId, invite, token } = await guest(world);
    await world.call('POST', '/api/v1/workspaces/invites/accept', { token, body: { token: invite } });
    return { path: `/api/v1/workspaces/${workspaceId}/leave`, token };
  },

  'POST /api/v1/monitors': async (world) => ({
    path: '/api/v1/monitors',
    body: { workspace_id: world.workspaceId, name: `new ${world.unique()}`, url: world.target },
  }),
  'GET /api/v1/monitors': async (world) => {
    await world.monitor();
    return { path: '/api/v1/monitors' };
  },
  'GET /api/v1/monitors/export/csv': async (world) => {
    await world.monitor();
    return { path: '/api/v1/monitors/export/csv' };
  },
  'POST /api/v1/monitors/import/csv': async (world) => ({
    path: '/api/v1/monitors/import/csv',
    body: `url,name\r\nhttps://imported${world.unique()}.example/,imported ${world.unique()}\r\n`,
    headers: { 'content-type': 'text/csv' },
  }),
  'GET /api/v1/monitors/{monitor_id}': ofMonitor(''),
  'PATCH /api/v1/monitors/{monitor_id}': ofMonitor('', (world) => ({ name: `renamed ${world.unique()}` })),
  'DELETE /api/v1/monitors/{monitor_id}': ofMonitor(''),
  'POST /api/v1/monitors/{monitor_id}/pause': ofMonitor('/pause'),
  'POST /api/v1/monitors/{monitor_id}/resume': ofMonitor('/resume'),
  'PUT /api/v1/monitors/reorder': async (world) => ({
    path: '/api/v1/monitors/reorder',
    body: { workspace_id: world.workspaceId, monitor_ids: [await world.monitor()] },
  }),
  'POST /api/v1/monitors/test': async (world) => ({ path: '/api/v1/monitors/test', body: { url: world.target } }),
  'POST /api/v1/monitors/{monitor_id}/check': ofMonitor('/check'),
  'GET /api/v1/monitors/{monitor_id}/results': async (world) => {
    const { monitorId } = await outage(world);
    await world.make('POST', `/api/v1/monitors/${monitorId}/check`);
    return { path: `/api/v1/monitors/${monitorId}/results` };
  },
  'GET /api/v1/monitors/{monitor_id}/status-ranges': async (world) => ({
    path: `/api/v1/monitors/${(await outage(world)).monitorId}/status-ranges`,
  }),
  'GET /api/v1/monitors/{monitor_id}/timeline': async (world) => {
    const id = await world.monitor();
    await world.make('POST', `/api/v1/monitors/${id}/check`);
    return { path: `/api/v1/monitors/${id}/timeline` };
  },
  'POST /api/v1/monitors/{monitor_id}/reset-stats': ofMonitor('/reset-stats', () => ({ confirm: true })),
  'GET /api/v1/monitors/{monitor_id}/stats': ofMonitor('/stats'),
  'GET /api/v1/monitors/{monitor_id}/response-time-distribution': ofMonitor('/response-time-distribution'),
  'GET /api/v1/monitors/{monitor_id}/sla': ofMonitor('/sla'),
  'GET /api/v1/monitors/{monitor_id}/sla/export/csv': ofMonitor('/sla/export/csv'),
  'GET /api/v1/monitors/{monitor_id}/sla/export/pdf': ofMonitor('/sla/export/pdf'),

  'GET /api/v1/monitors/dnsbl-providers': plain('/api/v1/monitors/dnsbl-providers'),
  'GET /api/v1/monitors/{monitor_id}/cert-chain': async (world) => {
    const made = await world.make('POST', '/api/v1/monitors', {
      workspace_id: world.workspaceId,
      name: `secured ${world.unique()}`,
      protocol: 'ssl',
      url: new URL(world.target).host,
    });
    return { path: `/api/v1/monitors/${Number(made.body['id'])}/cert-chain` };
  },
  'GET /api/v1/monitors/{monitor_id}/dnsbl/provider-history': ofMonitor('/dnsbl/provider-history'),
  'GET /api/v1/maintenance': async (world) => {
    await maintenance(world);
    return { path: '/api/v1/maintenance' };
  },
  'POST /api/v1/maintenance': async (world) => ({
    path: '/api/v1/maintenance',
    body: {
      workspace_id: world.workspaceId,
      name: `contract ${world.unique()}`,
      scope: { tags: ['a'] },
      starts_at: inAMonth,
      duration_seconds: 3_600,
      rrule: 'FREQ=WEEKLY',
      timezone: 'Europe/Berlin',
    },
  }),
  'GET /api/v1/maintenance/{id}': ofMaintenance(),
  'PUT /api/v1/maintenance/{id}': ofMaintenance('', { name: 'changed', duration_seconds: 7_200 }),
  'DELETE /api/v1/maintenance/{id}': ofMaintenance(),
  'POST /api/v1/maintenance/{id}/cancel': ofMaintenance('/cancel'),

  'GET /api/v1/monitor-groups': async (world) => {
    await group(world);
    return { path: '/api/v1/monitor-groups' };
  },
  'POST /api/v1/monitor-groups': async (world) => ({
    path: '/api/v1/monitor-groups',
    body: { workspace_id: world.workspaceId, name: `contract ${world.unique()}` },
  }),
  'GET /api/v1/monitor-groups/stats': plain('/api/v1/monitor-groups/stats'),
  'GET /api/v1/monitor-groups/{id}': ofGroup(''),
  'PUT /api/v1/monitor-groups/{id}': ofGroup('', () => ({ description: 'changed', is_paused: true })),
  'DELETE /api/v1/monitor-groups/{id}': ofGroup(''),
  'POST /api/v1/monitor-groups/{id}/monitors': ofGroup('/monitors', (id) => ({ monitor_ids: [id] })),
  'DELETE /api/v1/monitor-groups/{id}/monitors': ofGroup('/monitors', (id) => ({ monitor_ids: [id] })),
  'POST /api/v1/monitor-groups/{id}/tags': ofGroup('/tags', () => ({ tags: ['b'] })),
  'DELETE /api/v1/monitor-groups/{id}/tags': ofGroup('/tags', () => ({ tags: ['a'] })),
  'GET /api/v1/monitor-groups/{id}/status': ofGroup('/status'),
  'PUT /api/v1/monitor-groups/{id}/status': ofGroup('/status', () => ({ status: 'paused' })),

  'GET /api/v1/messenger-groups': plain('/api/v1/messenger-groups'),
  'POST /api/v1/messenger-groups/link': async (world) => ({
    path: '/api/v1/messenger-groups/link',
    body: { workspace_id: world.workspaceId },
  }),
  'DELETE /api/v1/messenger-groups/{id}': async (world) => {
    const id = await world.database.worker.oneFirst(sql.typeAlias('id')`
      insert into messenger_groups (workspace_id, chat_id, title) values (${world.workspaceId}, ${-world.unique()}, 'group') returning id`);
    return { path: `/api/v1/messenger-groups/${id}` };
  },
  'GET /api/v1/auth/team-chat/webhook': plain('/api/v1/auth/team-chat/webhook'),
  'GET /api/v1/auth/team-chat/webhook/callback': plain('/api/v1/auth/team-chat/webhook/callback'),
  ...channelRecipes,

  'GET /api/v1/webhook-checks': async (world) => {
    await webhookCheck(world);
    return { path: '/api/v1/webhook-checks' };
  },
  'POST /api/v1/webhook-checks': async (world) => ({
    path: '/api/v1/webhook-checks',
    body: { workspace_id: world.workspaceId, name: `contract ${world.unique()}` },
  }),
  'GET /api/v1/webhook-checks/{id}': ofWebhookCheck(''),
  'PUT /api/v1/webhook-checks/{id}': ofWebhookCheck('', { description: 'changed' }),
  'DELETE /api/v1/webhook-checks/{id}': ofWebhookCheck(''),
  'POST /api/v1/webhook-checks/{id}/pause': ofWebhookCheck('/pause'),
  'POST /api/v1/webhook-checks/{id}/resume': ofWebhookCheck('/resume'),
  'POST /api/v1/webhook-checks/{id}/regenerate-secret': ofWebhookCheck('/regenerate-secret', { grace_seconds: 60 }),
  'GET /api/v1/webhook-checks/{id}/events': ofWebhookCheck('/events'),
  'GET /api/v1/webhook-checks/{id}/stats': ofWebhookCheck('/stats'),
  'POST /api/v1/webhook-check/{slug}': async (world) => {
    const { slug, secret } = await webhookCheck(world);
    const body = { state: 'fine' };
    const { headers } = signStandard(secret, JSON.stringify(body));
    return { path: `/api/v1/webhook-check/${slug}`, body, headers };
  },

  'GET /api/v1/incidents': async (world) => {
    await incident(world);
    await outage(world);
    return { path: '/api/v1/incidents' };
  },
  'GET /api/v1/incidents/stats': plain('/api/v1/incidents/stats'),
  'GET /api/v1/incidents/{id}': async (world) => ({ path: `/api/v1/incidents/${(await outage(world)).incidentId}` }),
  'PUT /api/v1/incidents/{id}': ofIncident('', { severity: 'critical' }),
  'DELETE /api/v1/incidents/{id}': ofIncident(''),
  'POST /api/v1/incidents/{id}/updates': ofIncident('/updates', { kind: 'identified', body: 'The disk is full.' }),
  'POST /api/v1/incidents/{id}/resolve': ofIncident('/resolve'),

  'GET /api/v1/dashboard/stats': plain('/api/v1/dashboard/stats'),
  'GET /api/v1/dashboard/uptime-summary': async (world) => {
    await outage(world);
    return { path: '/api/v1/dashboard/uptime-summary' };
  },
  'GET /api/v1/dashboard/alerts-summary': plain('/api/v1/dashboard/alerts-summary'),
  'GET /api/v1/dashboard/incidents': async (world) => {
    await outage(world);
    return { path: '/api/v1/dashboard/incidents' };
  },
  'GET /api/v1/dashboard/combined': plain('/api/v1/dashboard/combined'),

  'GET /api/v1/feedback': async (world) => {
    await feedback(world);
    return { path: '/api/v1/feedback' };
  },
  'POST /api/v1/feedback': async (world) => {
    await feedback(world);
    return { path: '/api/v1/feedback', body: { kind: 'bug', message: 'The chart is empty.', page: '/monitors/1' } };
  },
  'GET /api/v1/feedback/{id}': async (world) => ({ path: await feedback(world) }),
  'DELETE /api/v1/feedback/{id}': async (world) => ({ path: await feedback(world) }),
  'PUT /api/v1/feedback/{id}/status': async (world) => ({
    path: `${await feedback(world)}/status`,
    body: { status: 'planned', reply: 'It comes next month.' },
  }),

  'GET /api/v1/probe/ips': plain('/api/v1/probe/ips'),

  ...heartbeatRecipes,
  ...webhookRecipes,
  ...publicStatusRecipes,
  ...reportRecipes,
  ...statusPageRecipes,
  ...alertRecipes,
};

/** Values that only mean something beside what the call made. */
export const meaningful: Readonly<Record<string, (world: World) => string>> = {
  workspace_id: (world) => String(world.workspaceId),
};
