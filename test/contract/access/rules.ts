import { z } from 'zod';
import { sql } from '../../../control-plane/src/platform/database/pools.ts';
import { alert, alertBody } from '../alert-recipes.ts';
import type { World } from '../world.ts';

/** Who may do what a route does, as the table of roles has it. */
export type Rule = {
  /**
   * `anybody`: without credentials. `account`: whoever has an account, with what is their own: what another one has is not found.
   * `viewer`, `editor`, `owner`: members of the workspace from that role on; to everybody else the workspace does not exist.
   * `administrator`: who administers the installation.
   */
  readonly least: 'anybody' | 'account' | 'viewer' | 'editor' | 'owner' | 'administrator';
  /** The call names something of the tried account or workspace, by its path, query or body. Absent: it has an identifier in its path. */
  readonly isNamed?: boolean;
  /** With `account`: administrators of the installation are shown what belongs to others, too. */
  readonly isOpenToAdministrators?: boolean;
  /** What the owner is answered, where that is no success. */
  readonly ownerGets?: number;
  /** What it answers to whom it lets in is tried by tests of its own, since it takes a device or a mail: here, that it lets them in. */
  readonly isTriedElsewhere?: boolean;
  /** Calls that name something foreign beside something of one's own. Each must be answered 404, or 422 where it cannot be told from what does not exist. */
  readonly foreign?: (world: World, stranger: Stranger) => Promise<readonly ForeignCall[]>;
};

/** An account beside the tried one, with what belongs to it. */
export type Stranger = { readonly token: string; readonly workspaceId: number; readonly monitorId: number };

/** A call of the tried account. */
export type ForeignCall = { readonly what: string; readonly path: string; readonly body?: unknown };

const anybody: Rule = { least: 'anybody' };
const account: Rule = { least: 'account' };
const administrator: Rule = { least: 'administrator' };
const elsewhere: Rule = { least: 'account', isTriedElsewhere: true };
const viewer: Rule = { least: 'viewer' };
const editor: Rule = { least: 'editor' };
const owner: Rule = { least: 'owner' };

/** A list over all workspaces of the caller, which `workspace_id` narrows. */
const listed = (path: string): Rule => ({
  least: 'account',
  foreign: async (_world, stranger) => [
    { what: 'a foreign workspace', path: `${path}?workspace_id=${stranger.workspaceId}` },
  ],
});

/** The same of a route whose series can be named. */
const ofNamed = (path: string): Rule => ({
  least: 'account',
  foreign: async (_world, stranger) => [
    { what: 'a foreign workspace', path: `${path}?workspace_id=${stranger.workspaceId}` },
    { what: 'a foreign workspace by name', path: `${path}?by=workspace&ids=${stranger.workspaceId}` },
    { what: 'a foreign monitor', path: `${path}?by=monitor&ids=${stranger.monitorId}` },
  ],
});

/** A template of incidents of a stranger. */
async function foreignTemplate(world: World, stranger: Stranger): Promise<number> {
  return world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into incident_templates (workspace_id, name, title, severity) values (${stranger.workspaceId}, 'theirs', 'theirs', 'minor') returning id`);
}

/** The number of somebody who is a member of a workspace. */
async function ownMember(world: World, workspaceId: number): Promise<number> {
  return world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    select id from workspace_members where workspace_id = ${workspaceId} order by id limit 1`);
}

/** Members of a group, which are monitors of its own workspace. */
const withForeignMonitor: Rule = {
  least: 'editor',
  foreign: async (world, stranger) => {
    const own = await world.monitor();
    const name = `contract ${world.unique()}`;
    const made = await world.make('POST', '/api/v1/monitor-groups', { workspace_id: world.workspaceId, name });
    return [
      {
        what: 'a foreign monitor beside an own one',
        path: `/api/v1/monitor-groups/${String(made.body['id'])}/monitors`,
        body: { monitor_ids: [own, stranger.monitorId] },
      },
    ];
  },
};

/** Signals of heartbeats: whoever knows where they go may send them. */
const signals: Readonly<Record<string, Rule>> = Object.fromEntries(
  [
    '/api/v1/ping/:ping_key/:slug',
    ...['start', 'success', 'fail', 'log', 'keepalive', ':exit_code'].map(
      (word) => `/api/v1/ping/:ping_key/:slug/${word}`,
    ),
    '/ping/:uuid',
    '/ping/:place/:signal',
    '/ping/:ping_key/:slug/:signal',
    '/api/push/:token',
  ].flatMap((path) => ['GET', 'POST'].map((method) => [`${method} ${path}`, anybody])),
);

/** A heartbeat is made in the workspace that the query names. */
const inNamedWorkspace = (path: string, body: unknown): Rule => ({
  least: 'editor',
  isNamed: true,
  foreign: async (_world, stranger) => [
    { what: 'a foreign workspace', path: `${path}?workspace_id=${stranger.workspaceId}`, body },
  ],
});
/** A maintenance covers what is of its own workspace. */
const maintenanceOfForeign = (path: string): Rule => ({
  least: 'editor',
  isNamed: true,
  foreign: async (world, stranger) => {
    const own = { workspace_id: world.workspaceId, name: `contract ${world.unique()}`, ...planned };
    const group = await world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
      insert into monitor_groups (workspace_id, name) values (${stranger.workspaceId}, ${`contract ${world.unique()}`}) returning id`);
    return [
      { what: 'a foreign workspace', path, body: { ...own, workspace_id: stranger.workspaceId, scope: { all: true } } },
      {
        what: 'a foreign monitor beside an own one',
        path,
        body: {
          ...own,
          scope: {
            subjects: [
              { type: 'monitor', id: await world.monitor() },
              { type: 'monitor', id: stranger.monitorId },
            ],
          },
        },
      },
      { what: 'a foreign group', path, body: { ...own, scope: { group_ids: [group] } } },
    ];
  },
});
const planned = { starts_at: new Date(Date.now() + 30 * 86_400_000).toISOString(), duration_seconds: 3_600 };

/** An alert covers what is of its own workspace, and its targets name configurations of whoever makes it. */
const alertOfForeign = (of: (world: World) => Promise<string>, body: (world: World) => object): Rule => ({
  least: 'editor',
  ...(of === newAlert ? { isNamed: true } : {}),
  foreign: async (world, stranger) => {
    const group = await world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
      insert into monitor_groups (workspace_id, name) values (${stranger.workspaceId}, ${`contract ${world.unique()}`}) returning id`);
    const config = await world.database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
      insert into channel_configs (user_id, channel, name, sealed_settings)
      select owner_id, 'email', 'foreign', '' from workspaces where id = ${stranger.workspaceId}
      on conflict (user_id, channel) do update set name = 'foreign' returning id`);
    const path = await of(world);
    return [
      ...(of === newAlert
        ? [{ what: 'a foreign workspace', path, body: { ...body(world), workspace_id: stranger.workspaceId } }]
        : []),
      {
        what: 'a foreign monitor beside an own one',
        path,
        body: {
          ...body(world),
          scope: {
            subjects: [
              { type: 'monitor', id: await world.monitor() },
              { type: 'monitor', id: stranger.monitorId },
            ],
          },
        },
      },
      { what: 'a foreign group', path, body: { ...body(world), scope: { group_ids: [group] } } },
      {
        what: 'a foreign configuration',
        path,
        body: {
          ...body(world),
          steps: [{ after_seconds: 0, targets: [{ channel: 'email', config_id: config, target: 'x@example.com' }] }],
        },
      },
    ];
  },
});
const newAlert = async () => '/api/v1/alerts';

/** Every route of the API. A route that is missing here fails the gate. */
export const rules: Readonly<Record<string, Rule>> = {
  'GET /health': anybody,
  'GET /health/deep': anybody,
  'GET /health/liveness': anybody,
  'GET /health/readiness': anybody,
  'GET /version': anybody,
  'GET /probe/ips': anybody,
  'GET /api/v1/probe/ips': anybody,

  'POST /api/v1/auth/register': anybody,
  'POST /api/v1/auth/login': anybody,
  'POST /api/v1/auth/refresh': anybody,
  'POST /api/v1/auth/logout': account,
  'POST /api/v1/auth/logout/all': account,
  'GET /api/v1/auth/me': account,
  'PATCH /api/v1/auth/me': account,
  'DELETE /api/v1/auth/me': account,
  'PATCH /api/v1/auth/me/locale': account,
  'PATCH /api/v1/auth/me/timezone': account,
  'GET /api/v1/auth/me/stats': account,
  'POST /api/v1/auth/change-password': account,
  'POST /api/v1/auth/forgot-password': anybody,
  'POST /api/v1/auth/reset-password': anybody,
  'POST /api/v1/auth/verify-email': elsewhere,
  'POST /api/v1/auth/confirm-email': anybody,
  'POST /api/v1/auth/change-email': account,
  'GET /api/v1/auth/sessions': account,
  'DELETE /api/v1/auth/sessions/:session_id': account,
  'GET /auth/confirm-email': anybody,
  'GET /auth/reset-password': anybody,
  'GET /api/v1/users/:user_id': anybody,

  'GET /api/v1/auth/ways': anybody,
  'GET /auth/complete': anybody,
  'GET /invites': anybody,
  'POST /invites': anybody,
  'GET /alerts': anybody,
  'GET /incidents/:id': anybody,
  'GET /monitors/:id': anybody,
  'GET /probes/:id': anybody,
  'GET /api/v1/auth/identity-provider-a/login': account,
  'GET /api/v1/auth/identity-provider-a/callback': anybody,
  'GET /api/v1/auth/identity-provider-b/login': account,
  'GET /api/v1/auth/identity-provider-b/callback': anybody,
  'POST /api/v1/auth/messenger/login': account,
  'POST /api/v1/auth/messenger/webapp': account,
  'GET /api/v1/auth/identities': account,
  'DELETE /api/v1/auth/identities/:id': account,
  'GET /api/v1/auth/mfa': account,
  'POST /api/v1/auth/mfa/totp': account,
  'POST /api/v1/auth/mfa/totp/confirm': elsewhere,
  'DELETE /api/v1/auth/mfa/totp': elsewhere,
  'POST /api/v1/auth/mfa/recovery-codes': elsewhere,
  'POST /api/v1/auth/mfa/passkeys/begin': elsewhere,
  'POST /api/v1/auth/mfa/passkeys': elsewhere,
  'DELETE /api/v1/auth/mfa/passkeys/:id': account,
  'POST /api/v1/auth/mfa/verify': elsewhere,
  'POST /api/v1/auth/mfa/passkey-options': elsewhere,
  'POST /api/v1/auth/passkey/begin': elsewhere,
  'POST /api/v1/auth/passkey/finish': elsewhere,
  'GET /api/v1/auth/tokens': account,
  'POST /api/v1/auth/tokens': {
    least: 'account',
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace beside an own one',
        path: '/api/v1/auth/tokens',
        body: { name: 'both', workspace_ids: [world.workspaceId, stranger.workspaceId] },
      },
    ],
  },
  'DELETE /api/v1/auth/tokens/:id': account,
  'GET /api/v1/audit-log': listed('/api/v1/audit-log'),

  'GET /api/v1/api-keys': account,
  'POST /api/v1/api-keys': {
    least: 'account',
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace beside an own one',
        path: '/api/v1/api-keys',
        body: { name: 'both', workspace_ids: [world.workspaceId, stranger.workspaceId] },
      },
    ],
  },
  'DELETE /api/v1/api-keys/:id': account,

  'GET /api/v1/dashboard/stats': listed('/api/v1/dashboard/stats'),
  'GET /api/v1/dashboard/uptime-summary': listed('/api/v1/dashboard/uptime-summary'),
  'GET /api/v1/dashboard/alerts-summary': listed('/api/v1/dashboard/alerts-summary'),
  'GET /api/v1/dashboard/incidents': listed('/api/v1/dashboard/incidents'),
  'GET /api/v1/dashboard/combined': listed('/api/v1/dashboard/combined'),

  'POST /api/v1/feedback': account,
  'GET /api/v1/feedback': account,
  'GET /api/v1/feedback/:id': { least: 'account', isOpenToAdministrators: true },
  'DELETE /api/v1/feedback/:id': administrator,
  'PUT /api/v1/feedback/:id/status': administrator,

  'GET /api/v1/web-push/vapid-public-key': account,
  'GET /api/v1/web-push/subscriptions': account,
  'POST /api/v1/web-push/subscribe': account,
  'POST /api/v1/web-push/unsubscribe': { least: 'account', isNamed: true },

  'GET /api/v1/workspaces': account,
  'GET /api/v1/workspaces/:id': viewer,
  'GET /api/v1/workspaces/default': account,
  'GET /api/v1/workspaces/summary': account,
  'POST /api/v1/workspaces': account,
  'PUT /api/v1/workspaces/:id': owner,
  'DELETE /api/v1/workspaces/:id': owner,
  'POST /api/v1/workspaces/:id/set-default': viewer,
  'POST /api/v1/workspaces/:id/transfer': {
    least: 'owner',
    foreign: async (world, stranger) => [
      {
        what: 'a member of another workspace',
        path: `/api/v1/workspaces/${world.workspaceId}/transfer`,
        body: { member_id: await ownMember(world, stranger.workspaceId) },
      },
    ],
  },
  'POST /api/v1/workspaces/:id/regenerate-ping-key': owner,
  'POST /api/v1/workspaces/:id/leave': { least: 'viewer', ownerGets: 409 },
  'GET /api/v1/workspaces/:id/members': viewer,
  'POST /api/v1/workspaces/:id/members': owner,
  'PATCH /api/v1/workspaces/:id/members/:member_id': {
    least: 'owner',
    foreign: async (world, stranger) => [
      {
        what: 'a member of another workspace',
        path: `/api/v1/workspaces/${world.workspaceId}/members/${await ownMember(world, stranger.workspaceId)}`,
        body: { role: 'viewer' },
      },
    ],
  },
  'DELETE /api/v1/workspaces/:id/members/:member_id': {
    least: 'owner',
    foreign: async (world, stranger) => [
      {
        what: 'a member of another workspace',
        path: `/api/v1/workspaces/${world.workspaceId}/members/${await ownMember(world, stranger.workspaceId)}`,
      },
    ],
  },
  'GET /api/v1/workspaces/:id/invites': owner,
  'POST /api/v1/workspaces/:id/invites': owner,
  'DELETE /api/v1/workspaces/:id/invites/:invite_id': owner,
  'POST /api/v1/workspaces/invites/accept': account,

  'GET /api/v1/monitors': listed('/api/v1/monitors'),
  'POST /api/v1/monitors': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/monitors',
        body: { workspace_id: stranger.workspaceId, name: 'mine', url: world.target },
      },
      {
        what: 'a probe that does not exist',
        path: '/api/v1/monitors',
        body: { workspace_id: world.workspaceId, name: 'mine', url: world.target, probe_ids: [2_147_483_647] },
      },
    ],
  },
  'POST /api/v1/monitors/test': account,
  'PUT /api/v1/monitors/reorder': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/monitors/reorder',
        body: { workspace_id: stranger.workspaceId, monitor_ids: [stranger.monitorId] },
      },
      {
        what: 'a foreign monitor in an own workspace',
        path: '/api/v1/monitors/reorder',
        body: { workspace_id: world.workspaceId, monitor_ids: [stranger.monitorId] },
      },
    ],
  },
  // It reports each monitor: who may not change one is told so in the report, which tests of its own judge.
  'POST /api/v1/monitors/bulk': {
    least: 'account',
    foreign: async (world, stranger) => [
      {
        what: 'a move to a foreign workspace',
        path: '/api/v1/monitors/bulk',
        body: { action: 'move', monitor_ids: [await world.monitor()], workspace_id: stranger.workspaceId },
      },
    ],
  },
  'GET /api/v1/monitors/export/csv': listed('/api/v1/monitors/export/csv'),
  'POST /api/v1/monitors/import/csv': {
    least: 'account',
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace',
        path: `/api/v1/monitors/import/csv?workspace_id=${stranger.workspaceId}`,
        body: { monitorList: [{ type: 'http', name: 'mine', url: world.target }] },
      },
    ],
  },
  'GET /api/v1/api-checks': listed('/api/v1/api-checks'),
  'POST /api/v1/api-checks': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/api-checks',
        body: { workspace_id: stranger.workspaceId, url: world.target, steps: [{}] },
      },
      {
        what: 'a probe that does not exist',
        path: '/api/v1/api-checks',
        body: { workspace_id: world.workspaceId, url: world.target, steps: [{}], probe_ids: [2_147_483_647] },
      },
    ],
  },
  'POST /api/v1/api-checks/test': {
    least: 'account',
    foreign: async (world, stranger) => [
      {
        what: 'a foreign API check',
        path: '/api/v1/api-checks/test',
        body: { url: world.target, steps: [{}], api_check_id: stranger.monitorId },
      },
    ],
  },
  'GET /api/v1/api-checks/:id': viewer,
  'PATCH /api/v1/api-checks/:id': editor,
  'DELETE /api/v1/api-checks/:id': editor,
  'POST /api/v1/api-checks/:id/run': editor,
  'GET /api/v1/api-checks/:id/results': viewer,

  'GET /api/v1/monitors/:monitor_id': viewer,
  'PATCH /api/v1/monitors/:monitor_id': editor,
  'DELETE /api/v1/monitors/:monitor_id': editor,
  'POST /api/v1/monitors/:monitor_id/pause': editor,
  'POST /api/v1/monitors/:monitor_id/resume': editor,
  'POST /api/v1/monitors/:monitor_id/reset-stats': editor,
  'POST /api/v1/monitors/:monitor_id/check': editor,
  'POST /api/v1/monitors/:monitor_id/simulate': viewer,
  'GET /api/v1/monitors/dnsbl-providers': account,
  'GET /api/v1/monitors/:monitor_id/cert-chain': viewer,
  'GET /api/v1/monitors/:monitor_id/dnsbl/provider-history': viewer,
  'GET /api/v1/monitors/:monitor_id/results': viewer,
  'GET /api/v1/monitors/:monitor_id/stats': viewer,
  'GET /api/v1/monitors/:monitor_id/timeline': viewer,
  'GET /api/v1/monitors/:monitor_id/response-time-distribution': viewer,
  'GET /api/v1/monitors/:monitor_id/latency': viewer,
  'GET /api/v1/monitors/:monitor_id/status-ranges': viewer,
  'GET /api/v1/monitors/:monitor_id/status-ranges/:range_id/evidence': {
    least: 'viewer',
    foreign: async (world, stranger) => [
      {
        what: 'a range below a foreign monitor',
        path: `/api/v1/monitors/${stranger.monitorId}/status-ranges/1/evidence`,
      },
      {
        what: 'a foreign range below an own monitor',
        path: `/api/v1/monitors/${await world.monitor()}/status-ranges/1/evidence`,
      },
    ],
  },
  'GET /api/v1/monitors/:monitor_id/sla': viewer,
  'GET /api/v1/monitors/:monitor_id/sla/export/csv': viewer,
  'GET /api/v1/monitors/:monitor_id/sla/export/pdf': viewer,
  'GET /api/v1/monitors/:monitor_id/sla/ledger': viewer,
  'GET /api/v1/monitors/:monitor_id/sla/corrections': viewer,
  'POST /api/v1/monitors/:monitor_id/sla/corrections': owner,
  'POST /api/v1/sla/verify': account,

  'GET /api/v1/events/stream': listed('/api/v1/events/stream'),
  'GET /api/v1/events': listed('/api/v1/events'),
  'GET /api/v1/analytics/availability': ofNamed('/api/v1/analytics/availability'),
  'GET /api/v1/analytics/latency': ofNamed('/api/v1/analytics/latency'),
  'GET /api/v1/analytics/worst': listed('/api/v1/analytics/worst'),
  'GET /api/v1/analytics/noisiest': listed('/api/v1/analytics/noisiest'),
  'GET /api/v1/analytics/response': listed('/api/v1/analytics/response'),
  'GET /api/v1/webhooks/events': account,
  'GET /api/v1/alerts': listed('/api/v1/alerts'),
  'POST /api/v1/alerts': alertOfForeign(newAlert, alertBody),
  'GET /api/v1/alerts/:alert_id': viewer,
  'PATCH /api/v1/alerts/:alert_id': alertOfForeign(alert, () => ({})),
  'DELETE /api/v1/alerts/:alert_id': editor,
  'POST /api/v1/alerts/:alert_id/test': editor,
  'POST /api/v1/alerts/:alert_id/toggle': editor,
  'POST /api/v1/alerts/:alert_id/snooze': editor,
  'GET /api/v1/alerts/:alert_id/history': viewer,
  'GET /api/v1/alerts/history': listed('/api/v1/alerts/history'),
  'POST /api/v1/alerts/preview': {
    least: 'viewer',
    isNamed: true,
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/alerts/preview',
        body: { workspace_id: stranger.workspaceId, event: 'monitor.down' },
      },
      {
        what: 'a foreign monitor in an own workspace',
        path: '/api/v1/alerts/preview',
        body: {
          workspace_id: world.workspaceId,
          event: 'monitor.down',
          subject: { type: 'monitor', id: stranger.monitorId },
        },
      },
    ],
  },
  'GET /api/v1/public/status/:slug': anybody,
  'GET /alerts/snooze/:token': anybody,
  'POST /alerts/snooze/:token': anybody,
  'GET /api/v1/maintenance': listed('/api/v1/maintenance'),
  'POST /api/v1/maintenance': maintenanceOfForeign('/api/v1/maintenance'),
  'POST /api/v1/maintenance/preview': maintenanceOfForeign('/api/v1/maintenance/preview'),
  'GET /api/v1/maintenance/:id': viewer,
  'PUT /api/v1/maintenance/:id': {
    least: 'editor',
    foreign: async (world, stranger) => {
      const own = { workspace_id: world.workspaceId, name: `contract ${world.unique()}`, ...planned };
      const made = await world.make('POST', '/api/v1/maintenance', { ...own, scope: { all: true } });
      return [
        {
          what: 'a foreign monitor',
          path: `/api/v1/maintenance/${String(made.body['id'])}`,
          body: { scope: { subjects: [{ type: 'monitor', id: stranger.monitorId }] } },
        },
      ];
    },
  },
  'DELETE /api/v1/maintenance/:id': editor,
  'POST /api/v1/maintenance/:id/cancel': editor,
  'POST /api/v1/maintenance/:id/end': editor,
  'GET /api/v1/maintenance/:id/occurrences': viewer,
  'GET /api/v1/maintenance/calendar': { least: 'editor', isNamed: true },
  'POST /api/v1/maintenance/calendar/rotate': { least: 'owner', isNamed: true },
  'GET /api/v1/public/maintenance/:token': anybody,
  'GET /api/v1/alerts/channels/availability': account,
  'POST /api/v1/alerts/test-send': {
    least: 'account',
    foreign: async (world) => {
      const other = await world.account(`channels${world.unique()}@example.com`);
      const made = await world.call('POST', '/api/v1/alert-channel-configs', {
        token: other.accessToken,
        body: { channel: 'email' },
      });
      const body = { channel: 'email', target: 'ada@example.com', config_id: Number(made.body['id']) };
      return [{ what: 'a foreign configuration', path: '/api/v1/alerts/test-send', body }];
    },
  },
  'GET /api/v1/alert-channel-configs': account,
  'POST /api/v1/alert-channel-configs': account,
  'GET /api/v1/alert-channel-configs/:config_id': account,
  'PATCH /api/v1/alert-channel-configs/:config_id': account,
  'DELETE /api/v1/alert-channel-configs/:config_id': account,
  'POST /api/v1/alert-channel-configs/:config_id/test': account,
  'POST /api/v1/alert-channel-configs/:config_id/activate': account,
  'POST /api/v1/alert-channel-configs/:config_id/deactivate': account,
  'GET /api/v1/alert-channel-configs/channels/:channel': { least: 'account', isNamed: true },
  'POST /api/v1/alert-channel-configs/mail-confirmations': account,
  'GET /api/v1/public/mail-alerts/:token': anybody,
  'POST /api/v1/public/mail-alerts/:token': anybody,
  'POST /api/v1/maintenance/import/ics': { least: 'editor', isNamed: true },

  'GET /api/v1/monitor-groups': listed('/api/v1/monitor-groups'),
  'GET /api/v1/monitor-groups/stats': listed('/api/v1/monitor-groups/stats'),
  'POST /api/v1/monitor-groups': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/monitor-groups',
        body: { workspace_id: stranger.workspaceId, name: 'mine' },
      },
      {
        what: 'a foreign monitor beside an own one',
        path: '/api/v1/monitor-groups',
        body: {
          workspace_id: world.workspaceId,
          name: 'mine',
          monitor_ids: [await world.monitor(), stranger.monitorId],
        },
      },
    ],
  },
  'GET /api/v1/monitor-groups/:id': viewer,
  'PUT /api/v1/monitor-groups/:id': editor,
  'DELETE /api/v1/monitor-groups/:id': editor,
  'POST /api/v1/monitor-groups/:id/monitors': withForeignMonitor,
  'DELETE /api/v1/monitor-groups/:id/monitors': withForeignMonitor,
  'POST /api/v1/monitor-groups/:id/tags': editor,
  'DELETE /api/v1/monitor-groups/:id/tags': editor,
  'GET /api/v1/monitor-groups/:id/status': viewer,
  'PUT /api/v1/monitor-groups/:id/status': editor,

  'GET /api/v1/heartbeats': listed('/api/v1/heartbeats'),
  'POST /api/v1/heartbeats': inNamedWorkspace('/api/v1/heartbeats', { name: 'mine' }),
  'POST /api/v1/heartbeats/import': inNamedWorkspace('/api/v1/heartbeats/import', { checks: [{ name: 'mine' }] }),
  'GET /api/v1/heartbeats/:id': viewer,
  'PATCH /api/v1/heartbeats/:id': editor,
  'DELETE /api/v1/heartbeats/:id': editor,
  'POST /api/v1/heartbeats/:id/pause': editor,
  'POST /api/v1/heartbeats/:id/resume': editor,
  'POST /api/v1/heartbeats/:id/regenerate-secret': editor,
  'GET /api/v1/heartbeats/:id/stats': viewer,
  'GET /api/v1/heartbeats/:id/pings': viewer,
  ...signals,
  'GET /api/v1/webhook-checks': listed('/api/v1/webhook-checks'),
  'POST /api/v1/webhook-checks': {
    least: 'editor',
    isNamed: true,
    foreign: async (_world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/webhook-checks',
        body: { workspace_id: stranger.workspaceId, name: 'mine' },
      },
    ],
  },
  'GET /api/v1/webhook-checks/:id': viewer,
  'PUT /api/v1/webhook-checks/:id': editor,
  'DELETE /api/v1/webhook-checks/:id': editor,
  'POST /api/v1/webhook-checks/:id/pause': editor,
  'POST /api/v1/webhook-checks/:id/resume': editor,
  'POST /api/v1/webhook-checks/:id/regenerate-secret': editor,
  'GET /api/v1/webhook-checks/:id/events': viewer,
  'GET /api/v1/webhook-checks/:id/stats': viewer,
  'POST /api/v1/webhook-check/:slug': anybody,

  'GET /api/v1/webhooks': listed('/api/v1/webhooks'),
  'POST /api/v1/webhooks': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => {
      const own = { name: 'mine', url: 'https://hooks.example/' };
      return [
        { what: 'a foreign workspace', path: '/api/v1/webhooks', body: { ...own, workspace_id: stranger.workspaceId } },
        {
          what: 'a foreign monitor',
          path: '/api/v1/webhooks',
          body: {
            ...own,
            workspace_id: world.workspaceId,
            scope: { subjects: [{ type: 'monitor', id: stranger.monitorId }] },
          },
        },
      ];
    },
  },
  'GET /api/v1/webhooks/:id': viewer,
  'PATCH /api/v1/webhooks/:id': editor,
  'DELETE /api/v1/webhooks/:id': editor,
  'POST /api/v1/webhooks/:id/test': editor,
  'POST /api/v1/webhooks/:id/secret': editor,
  'GET /api/v1/webhooks/:id/deliveries': viewer,
  'GET /api/v1/webhooks/:id/deliveries/:delivery_id': viewer,
  'POST /api/v1/webhooks/:id/deliveries/:delivery_id/redeliver': editor,
  'POST /api/v1/webhooks/:id/redeliver': editor,
  'GET /api/v1/webhooks/:id/stats': viewer,
  'GET /api/v1/webhooks/:id/dlq': viewer,
  'POST /api/v1/webhooks/:id/dlq/:dlq_id/retry': editor,
  'POST /api/v1/webhooks/:id/dlq/:dlq_id/resolve': editor,

  'GET /api/v1/scheduled-reports': listed('/api/v1/scheduled-reports'),
  'POST /api/v1/scheduled-reports': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => {
      const path = '/api/v1/scheduled-reports';
      return [
        { what: 'a foreign workspace', path, body: { name: 'mine', workspace_id: stranger.workspaceId } },
        {
          what: 'a foreign monitor',
          path,
          body: {
            name: 'mine',
            workspace_id: world.workspaceId,
            scope: { subjects: [{ type: 'monitor', id: stranger.monitorId }] },
          },
        },
      ];
    },
  },
  'GET /api/v1/scheduled-reports/:id': viewer,
  'PUT /api/v1/scheduled-reports/:id': editor,
  'DELETE /api/v1/scheduled-reports/:id': editor,
  'POST /api/v1/scheduled-reports/:id/pause': editor,
  'POST /api/v1/scheduled-reports/:id/resume': editor,
  'POST /api/v1/scheduled-reports/:id/toggle': editor,
  'POST /api/v1/scheduled-reports/:id/run': editor,
  'GET /api/v1/scheduled-reports/:id/runs': viewer,
  'GET /api/v1/scheduled-reports/:id/runs/:run_id/pdf': viewer,
  'GET /api/v1/scheduled-reports/:id/runs/:run_id/csv': viewer,
  'GET /api/v1/public/reports/:token': anybody,
  'POST /api/v1/public/reports/:token': anybody,

  'GET /api/v1/status-pages': listed('/api/v1/status-pages'),
  'POST /api/v1/status-pages': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => {
      const path = '/api/v1/status-pages';
      return [
        { what: 'a foreign workspace', path, body: { name: 'mine', workspace_id: stranger.workspaceId } },
        {
          what: 'a foreign monitor',
          path,
          body: {
            name: 'mine',
            workspace_id: world.workspaceId,
            items: [{ type: 'monitor', id: stranger.monitorId }],
          },
        },
      ];
    },
  },
  'POST /api/v1/status-pages/preview': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => {
      const path = '/api/v1/status-pages/preview';
      const item = { type: 'monitor', id: stranger.monitorId };
      return [
        { what: 'a foreign workspace', path, body: { name: 'mine', workspace_id: stranger.workspaceId } },
        { what: 'a foreign monitor', path, body: { name: 'mine', workspace_id: world.workspaceId, items: [item] } },
      ];
    },
  },
  'GET /api/v1/status-pages/:id': viewer,
  'PUT /api/v1/status-pages/:id': editor,
  'DELETE /api/v1/status-pages/:id': editor,
  'POST /api/v1/status-pages/:id/monitors': {
    least: 'editor',
    foreign: async (world, stranger) => {
      const made = await world.make('POST', '/api/v1/status-pages', {
        workspace_id: world.workspaceId,
        name: `contract ${world.unique()}`,
      });
      return [
        {
          what: 'a foreign monitor beside an own one',
          path: `/api/v1/status-pages/${String(made.body['id'])}/monitors`,
          body: { monitor_ids: [await world.monitor(), stranger.monitorId] },
        },
      ];
    },
  },
  'DELETE /api/v1/status-pages/:id/monitors/:monitor_id': editor,
  'POST /api/v1/status-pages/:id/domain/verify': editor,
  'PUT /api/v1/status-pages/:id/files/:kind': editor,
  'DELETE /api/v1/status-pages/:id/files/:kind': editor,
  'GET /api/v1/public/domains/ask': anybody,
  'POST /status/:slug/unlock': anybody,
  'POST /status/:slug/unlock/:token': anybody,

  'GET /api/v1/incident-templates': listed('/api/v1/incident-templates'),
  'POST /api/v1/incident-templates': {
    least: 'editor',
    isNamed: true,
    foreign: async (_world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/incident-templates',
        body: { workspace_id: stranger.workspaceId, name: 'mine', title: 'mine' },
      },
    ],
  },
  'GET /api/v1/incident-templates/:id': viewer,
  'PUT /api/v1/incident-templates/:id': editor,
  'DELETE /api/v1/incident-templates/:id': editor,
  'GET /api/v1/status-pages/:id/subscribers': editor,
  'POST /api/v1/status-pages/:id/subscribers': editor,
  'POST /api/v1/status-pages/:id/subscribers/import': editor,
  'DELETE /api/v1/status-pages/:id/subscribers/:subscriber_id': editor,
  'POST /status/:slug/subscribe': anybody,
  'GET /status/:slug/subscription/:token': anybody,
  'POST /status/:slug/subscription/:token': anybody,

  'GET /api/v1/badges': listed('/api/v1/badges'),
  'POST /api/v1/badges': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => {
      const path = '/api/v1/badges';
      const foreign = { type: 'monitor', id: stranger.monitorId };
      return [
        { what: 'a foreign workspace', path, body: { ...foreign, workspace_id: stranger.workspaceId } },
        { what: 'a foreign monitor', path, body: { ...foreign, workspace_id: world.workspaceId } },
      ];
    },
  },
  'GET /api/v1/badges/:id': viewer,
  'DELETE /api/v1/badges/:id': editor,
  'POST /api/v1/badges/:id/rotate': editor,

  'GET /api/v1/incidents': listed('/api/v1/incidents'),
  'GET /api/v1/incidents/stats': listed('/api/v1/incidents/stats'),
  'POST /api/v1/incidents': {
    least: 'editor',
    isNamed: true,
    foreign: async (world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/incidents',
        body: { workspace_id: stranger.workspaceId, title: 'mine' },
      },
      {
        what: 'a foreign monitor beside an own one',
        path: '/api/v1/incidents',
        body: {
          workspace_id: world.workspaceId,
          title: 'mine',
          monitor_ids: [await world.monitor(), stranger.monitorId],
        },
      },
      {
        what: 'an assignee who is no member',
        path: '/api/v1/incidents',
        body: { workspace_id: world.workspaceId, title: 'mine', assignee_id: 2_147_483_647 },
      },
      {
        what: 'a foreign template',
        path: '/api/v1/incidents',
        body: { workspace_id: world.workspaceId, template_id: await foreignTemplate(world, stranger) },
      },
    ],
  },
  'GET /api/v1/messenger-groups': listed('/api/v1/messenger-groups'),
  'POST /api/v1/messenger-groups/link': {
    least: 'editor',
    isNamed: true,
    foreign: async (_world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/messenger-groups/link',
        body: { workspace_id: stranger.workspaceId },
      },
    ],
  },
  'DELETE /api/v1/messenger-groups/:id': editor,
  'GET /api/v1/messenger-bot': account,
  'POST /api/v1/messenger-bot/link': account,
  'DELETE /api/v1/messenger-bot/link': { least: 'account', isTriedElsewhere: true },
  'POST /api/v1/messenger-updates/:secret': anybody,
  'GET /api/v1/auth/team-chat/webhook': account,
  'GET /api/v1/auth/team-chat/webhook/callback': anybody,

  'GET /api/v1/incidents/:incident_id': viewer,
  'PUT /api/v1/incidents/:incident_id': editor,
  'DELETE /api/v1/incidents/:incident_id': editor,
  'POST /api/v1/incidents/:incident_id/updates': editor,
  'POST /api/v1/incidents/:incident_id/resolve': editor,
  'POST /api/v1/incidents/:incident_id/acknowledge': editor,

  'GET /api/v1/probes': listed('/api/v1/probes'),
  'GET /api/v1/probes/:probe_id': viewer,
  'PATCH /api/v1/probes/:probe_id': owner,
  'DELETE /api/v1/probes/:probe_id': owner,
  'DELETE /api/v1/probes/:probe_id/quarantine': owner,
  'POST /api/v1/probes/join-tokens': {
    least: 'owner',
    isNamed: true,
    foreign: async (_world, stranger) => [
      {
        what: 'a foreign workspace',
        path: '/api/v1/probes/join-tokens',
        body: { name: 'mine', region: 'here', workspace_id: stranger.workspaceId },
      },
    ],
  },
};
