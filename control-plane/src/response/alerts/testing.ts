import type { TestContext } from '@parallax/testkit';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { moveIncidents, removeIncidentsOfReset } from '../incidents/index.ts';
import { incidentsApi } from '../incidents/testing.ts';
import type { IncidentsApi } from '../incidents/testing.ts';
import { asText, compose } from '../messages/index.ts';
import type { Message } from '../messages/index.ts';
import type { AlertTarget } from './alert.ts';
import { bundleOnce } from './bundling/job.ts';
import type { AlertParts, OwnedTarget, Sent } from './channels-gateway.ts';
import { leaveAlertsOfMoved } from './hooks/queries.ts';
import { removeAlertHistoryOfReset } from './hooks/reset.queries.ts';
import { occasionConsumers } from './occasions/consumer.ts';
import { planOnce } from './planning/job.ts';
import { createSender } from './sending/job.ts';
import type { Sender } from './sending/job.ts';

/** A message that a recording channel was given. */
export type Recorded = {
  readonly ownerId: number;
  readonly target: string;
  readonly message: Message;
  readonly isLastAttempt: boolean;
};

const historyRow = z.object({
  kind: z.string(),
  status: z.string(),
  reason: z.string().nullable(),
  target_key: z.string(),
});

export type AlertsWorld = {
  readonly api: IncidentsApi;
  readonly parts: AlertParts;
  /** What was delivered, in order; also what failed after it had arrived. */
  readonly recorded: Recorded[];
  /** What becomes of a sending; by default it arrives. */
  outcome: (to: OwnedTarget, message: Message) => Promise<Sent> | Sent;
  /** Targets, or targets by whom: "7 a". */
  readonly unusable: Set<string>;
  /** Makes an alert. @returns its number */
  readonly alert: (fields?: Readonly<Record<string, unknown>>) => Promise<number>;
  /** A sender of its own, as another replica has it. */
  readonly sender: (replica: string, parts?: Partial<AlertParts>) => Sender;
  /** Decides, bundles and sends until nothing is due at this instant. */
  readonly settle: () => Promise<void>;
  /** Time passes, and what is due then is done. */
  readonly passes: (ms: number) => Promise<void>;
  /** Kinds that a target was sent, in order. */
  readonly kinds: (target?: string) => readonly string[];
  /** The history: kind, status and reason. */
  readonly history: () => Promise<
    readonly (readonly [kind: string, status: string, reason: string | null, target: string])[]
  >;
};

/** For tests: a target of a channel that records. */
export const target = (name: string): AlertTarget => ({
  channel: 'email',
  config_id: null,
  target: name,
  locale: 'en',
  timezone: 'UTC',
});

/** For tests: monitors, incidents and alerts over a real database, a clock that stands, and a channel that records. */
export async function alertsWorld(t: TestContext): Promise<AlertsWorld> {
  const api = await incidentsApi(t, {
    more: [{ name: 'alerts', consumers: occasionConsumers }],
    monitors: {
      onMonitorsMoved: [leaveAlertsOfMoved, moveIncidents],
      onMonitorReset: [removeIncidentsOfReset, removeAlertHistoryOfReset],
    },
  });
  const recorded: Recorded[] = [];
  const pool = api.database.worker;
  const world: { outcome: AlertsWorld['outcome'] } = {
    outcome: () => ({ ok: true, latencyMs: 3, reference: 'r' }),
  };
  const unusable = new Set<string>();
  const parts: AlertParts = {
    compose,
    asText: (message) => asText(message, { most: 4_000 }),
    channels: {
      keysOf: async () => (_, each) => `${each.channel}:${each.target}`,
      maskTarget: ({ target: name }) => `${name.slice(0, 1)}…`,
      keepsOpen: ({ channel }) => channel === 'pagerduty',
      keepingOpen: ['pagerduty'],
      usable: async (_, targets) =>
        new Set(
          [...targets]
            .filter(
              ([, { ownerId, target: each }]) =>
                !unusable.has(each.target) && !unusable.has(`${ownerId} ${each.target}`),
            )
            .map(([key]) => key),
        ),
      deliver: async (to, message, isLastAttempt) => {
        const outcome = await world.outcome(to, message);
        recorded.push({ ownerId: to.ownerId, target: to.target.target, message, isLastAttempt });
        return outcome;
      },
    },
  };
  const sender = (replica: string, more: Partial<AlertParts> = {}): Sender =>
    createSender({
      pool,
      parts: { ...parts, ...more },
      publicUrl: 'https://parallax.example',
      replica,
      now: () => api.context.now(),
      log: api.context.log,
    });
  const own = sender('one');
  const settle = async (): Promise<void> => {
    for (let done = 1; done > 0; ) {
      done = await planOnce(pool, parts, api.context.now());
      done += await bundleOnce(pool, parts.channels, api.context.now());
      done += await own.begin();
      await own.idle();
    }
  };
  // The account's own, which would be told of everything too.
  await pool.query(sql.unsafe`delete from alerts`);
  const user = await pool.oneFirst(sql.typeAlias('id')`select min(id) as id from users`);
  return {
    api,
    parts,
    recorded,
    unusable,
    sender,
    settle,
    get outcome() {
      return world.outcome;
    },
    set outcome(outcome) {
      world.outcome = outcome;
    },
    alert: (fields = {}) => {
      const {
        steps = [{ after_seconds: 0, targets: [target('a')] }],
        events = ['monitor.down', 'heartbeat.failed', 'certificate.expiring'],
        failover = null,
        quiet_hours: quietHours = null,
        reminder_interval_seconds: reminder = null,
        min_duration_seconds: least = 0,
        covers_all: all = true,
        tags = [],
        owner_id: ownerId = user,
      } = fields;
      const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
      return pool.oneFirst(sql.typeAlias('id')`
        insert into alerts (workspace_id, owner_id, name, covers_all, tags, events, steps, failover, quiet_hours, reminder_interval_seconds,
          min_duration_seconds, active_since)
        values (${api.workspaceId}, ${ownerId as number}, 'all', ${all as boolean}, ${sql.array(tags as string[], 'text')},
          ${sql.array(events as string[], 'text')}, ${json(steps)}::jsonb, ${json(failover)}::jsonb, ${json(quietHours)}::jsonb,
          ${reminder as number | null}, ${least as number}, ${sql.timestamp(new Date(api.context.now() - 1_000))})
        returning id`);
    },
    passes: async (ms) => {
      await api.passes(ms);
      await settle();
    },
    kinds: (name = 'a') => recorded.filter((each) => each.target === name).map(({ message }) => message.kind),
    history: async () => {
      const rows = await pool.any(
        sql.type(historyRow)`select kind, status, reason, target_key from notifications order by id`,
      );
      return rows.map((row) => [row.kind, row.status, row.reason, row.target_key.replace('email:', '')] as const);
    },
  };
}
