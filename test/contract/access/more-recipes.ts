import { z } from 'zod';
import { issueToken } from '../../../control-plane/src/identity/account-tokens/index.ts';
import { botToken } from '../../../control-plane/src/identity/sign-in/messenger/testing.ts';
import { webhookSecrets } from '../../../control-plane/src/response/messenger/bot.ts';
import { sql } from '../../../control-plane/src/platform/database/pools.ts';
import { outage } from '../outage.ts';
import { inAMonth, maintenance } from '../recipes.ts';
import type { Recipe } from '../recipes.ts';
import { moreAlertRecipes } from '../alert-recipes.ts';
import { moreChannelRecipes } from '../channel-recipes.ts';
import { moreHeartbeatRecipes } from '../heartbeat-recipes.ts';
import { moreReportRecipes } from '../report-recipes.ts';
import { moreStatusPageRecipes } from '../status-page-recipes.ts';
import { moreWebhookRecipes } from '../webhook-recipes.ts';
import { badgeRecipes } from '../badge-recipes.ts';
import { privatePageRecipes } from '../private-page-recipes.ts';
import type { World } from '../world.ts';

/** A private probe of the workspace, without an agent behind it; paused, so that no monitor is assigned to it. */
async function probe(world: World): Promise<number> {
  return world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into probes (workspace_id, name, region, signing_public_key, is_paused)
    values (${world.workspaceId}, ${`contract-${world.unique()}`}, 'here', ${sql.binary(Buffer.alloc(32, 1))}, true) returning id`);
}

const ofProbe =
  (suffix = '', body?: (world: World) => unknown): Recipe =>
  async (world) => ({
    path: `/api/v1/probes/${await probe(world)}${suffix}`,
    ...(body === undefined ? {} : { body: body(world) }),
  });

// Of every account that the tests make.
const password = 'a rather long phrase 7';

const plain =
  (path: string, body?: unknown): Recipe =>
  async () => ({ path, ...(body === undefined ? {} : { body }) });

/** A session of an account of its own, for calls that end it. */
const ofNewAccount =
  (path: string, body: (world: World) => unknown): Recipe =>
  async (world) => ({
    path,
    body: body(world),
    token: (await world.account(`matrix${world.unique()}@example.com`)).accessToken,
  });

const idRow = z.object({ id: z.number() });

/** The tried account. */
async function userId(world: World): Promise<number> {
  return world.database.worker.oneFirst(sql.type(idRow)`
    select owner_id as id from workspaces where id = ${world.workspaceId}`);
}

/** Another workspace of the tried account, with the same members in the same roles. */
async function sibling(world: World): Promise<string> {
  const made = await world.make('POST', '/api/v1/workspaces', { name: `contract ${world.unique()}` });
  const id = Number(made.body['id']);
  await world.database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role)
    select ${id}, user_id, role from workspace_members where workspace_id = ${world.workspaceId} and role <> 'owner'`);
  return `/api/v1/workspaces/${id}`;
}

const apiCheck = (world: World) => ({ name: `contract ${world.unique()}`, url: world.target, steps: [{}] });

const ofApiCheck =
  (suffix: string, body?: (world: World) => unknown): Recipe =>
  async (world) => {
    const made = await world.make('POST', '/api/v1/api-checks', {
      workspace_id: world.workspaceId,
      ...apiCheck(world),
    });
    return {
      path: `/api/v1/api-checks/${String(made.body['id'])}${suffix}`,
      ...(body === undefined ? {} : { body: body(world) }),
    };
  };

const ofSibling =
  (suffix: string, body?: (world: World) => unknown): Recipe =>
  async (world) => ({
    path: `${await sibling(world)}${suffix}`,
    ...(body === undefined ? {} : { body: body(world) }),
  });

/** Somebody who is no owner of it. */
async function memberOf(world: World, workspace: string): Promise<number> {
  const list = await world.make('GET', `${workspace}/members`);
  const members = list.body['members'] as { id: number; role: string; status: string }[];
  return members.find(({ role, status }) => role === 'viewer' && status === 'active')?.id ?? 0;
}

/**
 * Calls of the routes that the specification does not list, by the contract's path; and of those of workspaces in which the tried
 * account's workspace, or one like it, is meant.
 */
export const moreRecipes: Readonly<Record<string, Recipe>> = {
  ...moreHeartbeatRecipes,
  ...moreStatusPageRecipes,
  ...moreWebhookRecipes,
  ...moreReportRecipes,
  ...moreStatusPageRecipes,
  ...moreAlertRecipes,
  ...badgeRecipes,
  ...privatePageRecipes,

  'GET /probe/ips': plain('/probe/ips'),
  'GET /api/v1/events/stream': plain('/api/v1/events/stream'),
  'GET /api/v1/events': plain('/api/v1/events'),
  'GET /api/v1/analytics/availability': plain('/api/v1/analytics/availability'),
  'GET /api/v1/analytics/latency': plain('/api/v1/analytics/latency'),
  'GET /api/v1/analytics/worst': plain('/api/v1/analytics/worst'),
  'GET /api/v1/analytics/noisiest': plain('/api/v1/analytics/noisiest'),
  'GET /api/v1/analytics/response': plain('/api/v1/analytics/response'),

  'GET /api/v1/api-checks': plain('/api/v1/api-checks'),
  'POST /api/v1/api-checks': async (world) => ({
    path: '/api/v1/api-checks',
    body: { workspace_id: world.workspaceId, ...apiCheck(world) },
  }),
  'POST /api/v1/api-checks/test': async (world) => ({ path: '/api/v1/api-checks/test', body: apiCheck(world) }),
  'GET /api/v1/api-checks/:id': ofApiCheck(''),
  'PATCH /api/v1/api-checks/:id': ofApiCheck('', (world) => ({ name: `renamed ${world.unique()}` })),
  'DELETE /api/v1/api-checks/:id': ofApiCheck(''),
  'POST /api/v1/api-checks/:id/run': ofApiCheck('/run'),
  'GET /api/v1/api-checks/:id/results': ofApiCheck('/results'),
  'POST /api/v1/maintenance/preview': async (world) => ({
    path: '/api/v1/maintenance/preview',
    body: {
      workspace_id: world.workspaceId,
      scope: { all: true },
      starts_at: inAMonth,
      duration_seconds: 3_600,
    },
  }),
  'POST /api/v1/maintenance/:id/end': async (world) => {
    const path = await maintenance(world);
    // As the clock starts it.
    await world.database.worker.query(sql.unsafe`
      with started as (
        update maintenance set status = 'active', next_starts_at = null, next_ends_at = null
        where id = ${Number(path.split('/').at(-1))} returning workspace_id, id)
      insert into maintenance_occurrences (workspace_id, maintenance_id, starts_at, ends_at)
      select workspace_id, id, now(), now() + interval '1 hour' from started`);
    return { path: `${path}/end` };
  },
  'GET /api/v1/maintenance/:id/occurrences': async (world) => ({ path: `${await maintenance(world)}/occurrences` }),
  'GET /api/v1/maintenance/calendar': async (world) => ({
    path: `/api/v1/maintenance/calendar?workspace_id=${world.workspaceId}`,
  }),
  'POST /api/v1/maintenance/calendar/rotate': async (world) => ({
    path: '/api/v1/maintenance/calendar/rotate',
    body: { workspace_id: world.workspaceId },
  }),
  'GET /api/v1/public/maintenance/:token': async (world) => {
    const body = { workspace_id: world.workspaceId };
    const made = await world.make('POST', '/api/v1/maintenance/calendar/rotate', body);
    return { path: new URL(String(made.body['url'])).pathname };
  },
  ...moreChannelRecipes,
  'POST /api/v1/maintenance/import/ics': async (world) => ({
    path: `/api/v1/maintenance/import/ics?workspace_id=${world.workspaceId}&all=true`,
    body: 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n',
    headers: { 'content-type': 'text/calendar' },
  }),

  'POST /api/v1/monitors/bulk': async (world) => ({
    path: '/api/v1/monitors/bulk',
    body: { action: 'pause', monitor_ids: [await world.monitor()] },
  }),

  'PATCH /api/v1/auth/me': ofNewAccount('/api/v1/auth/me', () => ({ display_name: 'Ada' })),
  'DELETE /api/v1/auth/me': ofNewAccount('/api/v1/auth/me', () => ({ password })),
  'POST /api/v1/auth/verify-email': plain('/api/v1/auth/verify-email'),
  'POST /api/v1/auth/confirm-email': async (world) => {
    const { id, email } = await world.account(`confirm${world.unique()}@example.com`);
    const scope = { userId: id, workspaceIds: [] };
    const token = await world.database.worker.transaction((transaction) =>
      issueToken(scope, transaction, 'email', email),
    );
    return { path: '/api/v1/auth/confirm-email', body: { token } };
  },
  'POST /api/v1/auth/change-email': ofNewAccount('/api/v1/auth/change-email', (world) => ({
    new_email: `changed${world.unique()}@example.com`,
    password,
  })),
  'GET /api/v1/auth/sessions': plain('/api/v1/auth/sessions'),
  'DELETE /api/v1/auth/sessions/:session_id': async (world) => {
    const login = { email: 'contract@example.com', password };
    await world.call('POST', '/api/v1/auth/login', { body: login });
    const id = await world.database.worker.oneFirst(sql.type(z.object({ id: z.string() }))`
      select id from sessions where user_id = ${await userId(world)} and revoked_at is null order by created_at desc limit 1`);
    return { path: `/api/v1/auth/sessions/${id}` };
  },
  'GET /auth/confirm-email': plain('/auth/confirm-email'),
  'GET /auth/reset-password': plain('/auth/reset-password'),
  'GET /alerts': plain('/alerts'),
  'GET /incidents/:id': plain('/incidents/1'),
  'GET /monitors/:id': plain('/monitors/1'),
  'GET /probes/:id': plain('/probes/1'),
  'GET /auth/complete': plain('/auth/complete'),
  'GET /invites': plain('/invites'),
  'POST /invites': async (world) => {
    const path = `/api/v1/workspaces/${world.workspaceId}/invites`;
    const made = await world.make('POST', path, {});
    return {
      path: '/invites',
      body: new URLSearchParams({ token: String(made.body['token']) }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
  },
  'GET /api/v1/auth/ways': plain('/api/v1/auth/ways'),
  'GET /api/v1/messenger-bot': plain('/api/v1/messenger-bot'),
  'POST /api/v1/messenger-bot/link': plain('/api/v1/messenger-bot/link'),
  'DELETE /api/v1/messenger-bot/link': plain('/api/v1/messenger-bot/link'),
  'POST /api/v1/messenger-updates/:secret': async () => {
    const secrets = webhookSecrets({ token: botToken, baseUrl: '' });
    return {
      path: `/api/v1/messenger-updates/${secrets.path}`,
      headers: { 'x-telegram-bot-api-secret-token': secrets.header },
    };
  },
  'GET /api/v1/auth/identities': plain('/api/v1/auth/identities'),
  'DELETE /api/v1/auth/identities/:id': async (world) => {
    const id = await world.database.worker.oneFirst(sql.type(idRow)`
      insert into identities (user_id, way, issuer, subject)
      values (${await userId(world)}, 'messenger', 'https://telegram.org', ${`contract ${world.unique()}`}) returning id`);
    return { path: `/api/v1/auth/identities/${id}` };
  },
  'GET /api/v1/auth/mfa': plain('/api/v1/auth/mfa'),
  'POST /api/v1/auth/mfa/totp': plain('/api/v1/auth/mfa/totp', { password }),
  'POST /api/v1/auth/mfa/totp/confirm': plain('/api/v1/auth/mfa/totp/confirm', { code: '000000' }),
  'DELETE /api/v1/auth/mfa/totp': plain('/api/v1/auth/mfa/totp', {}),
  'POST /api/v1/auth/mfa/recovery-codes': plain('/api/v1/auth/mfa/recovery-codes', {}),
  'POST /api/v1/auth/mfa/passkeys/begin': plain('/api/v1/auth/mfa/passkeys/begin', {}),
  'POST /api/v1/auth/mfa/passkeys': plain('/api/v1/auth/mfa/passkeys', {}),
  'DELETE /api/v1/auth/mfa/passkeys/:id': async (world) => {
    const id = await world.database.worker.oneFirst(sql.type(idRow)`
      insert into passkeys (user_id, name, credential_id, public_key, counter, backed_up)
      values (
        ${await userId(world)}, 'contract key', ${sql.binary(Buffer.from(`contract ${world.unique()}`))}, ${sql.binary(Buffer.of(1))}, 0, false
      ) returning id`);
    return { path: `/api/v1/auth/mfa/passkeys/${id}`, body: { password } };
  },
  'POST /api/v1/auth/mfa/verify': plain('/api/v1/auth/mfa/verify', {}),
  'POST /api/v1/auth/mfa/passkey-options': plain('/api/v1/auth/mfa/passkey-options', {}),
  'POST /api/v1/auth/passkey/begin': plain('/api/v1/auth/passkey/begin'),
  'POST /api/v1/auth/passkey/finish': plain('/api/v1/auth/passkey/finish', {}),
  'GET /api/v1/auth/tokens': plain('/api/v1/auth/tokens'),
  'POST /api/v1/auth/tokens': plain('/api/v1/auth/tokens', { name: 'matrix' }),
  'DELETE /api/v1/auth/tokens/:id': async (world) => {
    const made = await world.make('POST', '/api/v1/auth/tokens', { name: 'to be revoked' });
    return { path: `/api/v1/auth/tokens/${String(made.body['id'])}` };
  },
  'GET /api/v1/audit-log': plain('/api/v1/audit-log'),

  'GET /api/v1/workspaces/:id': async (world) => ({ path: `/api/v1/workspaces/${world.workspaceId}` }),
  'PUT /api/v1/workspaces/:id': ofSibling('', (world) => ({ name: `contract ${world.unique()}` })),
  'DELETE /api/v1/workspaces/:id': ofSibling(''),
  'POST /api/v1/workspaces/:id/set-default': ofSibling('/set-default'),
  'POST /api/v1/workspaces/:id/transfer': async (world) => {
    const workspace = await sibling(world);
    return { path: `${workspace}/transfer`, body: { member_id: await memberOf(world, workspace) } };
  },
  'POST /api/v1/workspaces/:id/regenerate-ping-key': ofSibling('/regenerate-ping-key'),
  'POST /api/v1/workspaces/:id/leave': ofSibling('/leave'),
  'GET /api/v1/workspaces/:id/members': ofSibling('/members'),
  'POST /api/v1/workspaces/:id/members': ofSibling('/members', (world) => ({
    email: `contract-${world.unique()}@example.com`,
  })),
  'PATCH /api/v1/workspaces/:id/members/:member_id': async (world) => {
    const workspace = await sibling(world);
    return { path: `${workspace}/members/${await memberOf(world, workspace)}`, body: { role: 'viewer' } };
  },
  'DELETE /api/v1/workspaces/:id/members/:member_id': async (world) => {
    const workspace = await sibling(world);
    return { path: `${workspace}/members/${await memberOf(world, workspace)}` };
  },
  'GET /api/v1/workspaces/:id/invites': ofSibling('/invites'),
  'POST /api/v1/workspaces/:id/invites': ofSibling('/invites', () => ({ role: 'viewer' })),
  'DELETE /api/v1/workspaces/:id/invites/:invite_id': async (world) => {
    const workspace = await sibling(world);
    const made = await world.make('POST', `${workspace}/invites`, { role: 'viewer' });
    return { path: `${workspace}/invites/${String(made.body['id'])}` };
  },

  'GET /api/v1/monitors/:monitor_id/latency': async (world) => ({
    path: `/api/v1/monitors/${await world.monitor()}/latency`,
  }),
  'POST /api/v1/monitors/:monitor_id/simulate': async (world) => ({
    path: `/api/v1/monitors/${await world.monitor()}/simulate`,
    body: {},
  }),
  'GET /api/v1/monitors/:monitor_id/status-ranges/:range_id/evidence': async (world) => {
    const { monitorId, rangeId } = await outage(world);
    return { path: `/api/v1/monitors/${monitorId}/status-ranges/${rangeId}/evidence` };
  },
  'GET /api/v1/monitors/:monitor_id/sla/ledger': async (world) => ({
    path: `/api/v1/monitors/${await world.monitor()}/sla/ledger`,
  }),
  'GET /api/v1/monitors/:monitor_id/sla/corrections': async (world) => ({
    path: `/api/v1/monitors/${await world.monitor()}/sla/corrections`,
  }),
  'POST /api/v1/monitors/:monitor_id/sla/corrections': async (world) => {
    const monitorId = await world.monitor();
    await world.database.worker.query(sql.unsafe`
      update monitors set created_at = now() - interval '3 hours' where id = ${monitorId}`);
    await world.database.worker.query(sql.unsafe`
      insert into status_ranges (monitor_id, started_at, ended_at, status)
      values (${monitorId}, now() - interval '2 hours', now() - interval '1 hour', 'DOWN')`);
    const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
    const body = { started_at: at(100), ended_at: at(90), counted_as: 'UP', reason: 'contract' };
    return { path: `/api/v1/monitors/${monitorId}/sla/corrections`, body };
  },
  'POST /api/v1/sla/verify': async () => ({
    path: '/api/v1/sla/verify',
    body: 'section,name\r\n',
    headers: { 'content-type': 'text/csv' },
  }),
  'GET /api/v1/probes': async (world) => {
    await probe(world);
    return { path: '/api/v1/probes' };
  },
  'GET /api/v1/probes/:probe_id': ofProbe(),
  'PATCH /api/v1/probes/:probe_id': ofProbe('', (world) => ({ name: `contract-${world.unique()}` })),
  'POST /api/v1/incidents': async (world) => ({
    path: '/api/v1/incidents',
    body: { workspace_id: world.workspaceId, title: `contract ${world.unique()}`, update: { body: 'We look at it.' } },
  }),
  'POST /api/v1/incidents/:incident_id/acknowledge': async (world) => {
    const title = `contract ${world.unique()}`;
    const made = await world.make('POST', '/api/v1/incidents', { workspace_id: world.workspaceId, title });
    return { path: `/api/v1/incidents/${String(made.body['id'])}/acknowledge` };
  },
  'DELETE /api/v1/probes/:probe_id': ofProbe(),
  'DELETE /api/v1/probes/:probe_id/quarantine': async (world) => {
    const probeId = await probe(world);
    await world.database.worker.query(sql.unsafe`
      insert into quarantines (probe_id, started_at, reason) values (${probeId}, now(), 'contract')`);
    return { path: `/api/v1/probes/${probeId}/quarantine` };
  },
  'POST /api/v1/probes/join-tokens': async (world) => ({
    path: '/api/v1/probes/join-tokens',
    body: { name: `contract-${world.unique()}`, region: 'here', workspace_id: world.workspaceId },
  }),
};
