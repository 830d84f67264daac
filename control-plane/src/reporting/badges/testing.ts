import type { Badge, BadgeType } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { auditCapability } from '../../identity/audit/index.ts';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { heartbeatsCapability } from '../../monitoring/heartbeats/index.ts';
import { monitorsApi } from '../../monitoring/testing.ts';
import type { MonitorsApi } from '../../monitoring/testing.ts';
import { webhookChecksCapability } from '../../monitoring/webhook-checks/index.ts';
import { preparedTogether } from '../../platform/http/prepared/prepared-together.ts';
import { slaCapability } from '../sla/index.ts';
import { statisticsCapability } from '../statistics/index.ts';
import { leavePagesOfDeleted, leavePagesOfMoved, preparedPages, statusPagesCapability } from '../status-pages/index.ts';
import { badgesCapability, preparedBadges, removeBadgeOfDeleted } from './index.ts';

/** What a badge is about. */
export type BadgeSubject = { readonly type: BadgeType; readonly id: number };

export type BadgesApi = MonitorsApi & {
  /** What the API takes for now; a test moves it. */
  readonly clock: { ms: number };
  /** Calls below `/badges` as the owner. */
  readonly badges: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Makes the badge of a subject; must succeed. */
  readonly badge: (subject: BadgeSubject) => Promise<Badge & { readonly key: string }>;
  /** A document of a badge: `status.svg`. */
  readonly shown: (key: string, document: string, more?: TestCall) => Promise<TestAnswer>;
  /** What the JSON of a badge says. */
  readonly said: (key: string, document: string) => Promise<Record<string, unknown>>;
  readonly heartbeat: (name?: string) => Promise<number>;
  readonly check: (name?: string) => Promise<number>;
  readonly page: (body?: Record<string, unknown>) => Promise<number>;
};

const madeBadge = z.looseObject({ id: z.number(), key: z.string() });

/** For tests: the API with all that has badges, and badges as the public sees them, at a time that stands still. */
export async function badgesApi(t: TestContext, more: Partial<Context> = {}): Promise<BadgesApi> {
  // Tokens are good from the time of the database on.
  const clock = { ms: Math.floor(Date.now() / 1_000) * 1_000 + 300_000 };
  let isRunning = false;
  const api = await monitorsApi(t, {
    monitors: {
      onMonitorDeleted: [leavePagesOfDeleted, removeBadgeOfDeleted],
      onMonitorsMoved: [leavePagesOfMoved],
    },
    more: [
      auditCapability,
      heartbeatsCapability,
      webhookChecksCapability,
      statisticsCapability,
      slaCapability,
      statusPagesCapability,
      badgesCapability,
    ],
    context: { publicUrl: 'https://parallax.example', now: () => (isRunning ? clock.ms : Date.now()), ...more },
    prepared: (context) => preparedTogether([preparedPages(context), preparedBadges(context)]),
  });
  isRunning = true;
  const make = async (path: string, body: Record<string, unknown>): Promise<number> => {
    const made = await api.call('POST', path, { token: api.token, body });
    if (made.status !== 201) throw new Error(`${path}: ${made.status} ${made.text}`);
    return Number(made.body['id']);
  };
  const badges: BadgesApi['badges'] = (method, path, body, more = {}) =>
    api.call(method, `/api/v1/badges${path}`, { token: api.token, ...(body === undefined ? {} : { body }), ...more });
  const shown: BadgesApi['shown'] = (key, document, more = {}) =>
    api.call('GET', `/badge/${key}/${document}`, {
      ...more,
      headers: { host: 'parallax.example', ...more.headers },
    });
  const workspace = { workspace_id: api.workspaceId };
  return {
    ...api,
    clock,
    badges,
    badge: async (subject) => {
      const made = await badges('POST', '', { ...workspace, ...subject });
      if (made.status !== 201) throw new Error(`create: ${made.status} ${made.text}`);
      return madeBadge.parse(made.body) as unknown as Badge & { readonly key: string };
    },
    shown,
    said: async (key, document) => {
      const answer = await shown(key, document);
      if (answer.status !== 200) throw new Error(`${document}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    heartbeat: (name = 'nightly') => make(`/api/v1/heartbeats?workspace_id=${api.workspaceId}`, { name }),
    check: (name = 'deploys') => make('/api/v1/webhook-checks', { ...workspace, name }),
    page: (body = {}) =>
      make('/api/v1/status-pages', { ...workspace, name: 'Shop', is_published: true, timezone: 'UTC', ...body }),
  };
}
