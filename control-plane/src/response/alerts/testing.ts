import type { TestContext } from '@parallax/testkit';
import { sql } from '../../platform/database/pools.ts';
import { incidentsApi } from '../incidents/testing.ts';
import type { IncidentsApi } from '../incidents/testing.ts';
import { asText } from '../messages/as-text.ts';
import { compose } from '../messages/compose.ts';
import type { Message } from '../messages/message.ts';
import type { AlertTarget } from './alert.ts';
import { bundleOnce } from './bundling/job.ts';
import type { AlertParts, OwnedTarget, Sent } from './channels-gateway.ts';
import { occasionConsumers } from './occasions/consumer.ts';
import { planOnce } from './planning/job.ts';
import { createSender } from './sending/job.ts';
import type { Sender } from './sending/job.ts';

/** A message that a recording channel was given. */
export type Recorded = { readonly target: string; readonly message: Message; readonly isLastAttempt: boolean };

export type AlertsWorld = {
  readonly api: IncidentsApi;
  readonly parts: AlertParts;
  /** What was delivered, in order; also what failed after it had arrived. */
  readonly recorded: Recorded[];
  /** What becomes of a sending; by default it arrives. */
  outcome: (to: OwnedTarget, message: Message) => Promise<Sent> | Sent;
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
  const api = await incidentsApi(t, { more: [{ name: 'alerts', consumers: occasionConsumers }] });
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
      targetKeyOf: (_, each) => `${each.channel}:${each.target}`,
      maskTarget: ({ target: name }) => `${name.slice(0, 1)}…`,
      keepsOpen: ({ channel }) => channel === 'pagerduty',
      usable: async (_, targets) =>
        new Set([...targets].filter(([, each]) => !unusable.has(each.target.target)).map(([key]) => key)),
      deliver: async (to, message, isLastAttempt) => {
        const outcome = await world.outcome(to, message);
        recorded.push({ target: to.target.target, message, isLastAttempt });
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
      } = fields;
      const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
      return pool.oneFirst(sql.typeAlias('id')`
        insert into alerts (workspace_id, owner_id, name, covers_all, tags, events, steps, failover, quiet_hours, reminder_interval_seconds,
          min_duration_seconds, active_since)
        values (${api.workspaceId}, ${user}, 'all', ${all as boolean}, ${sql.array(tags as string[], 'text')},
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
      const rows = await pool.any(sql.unsafe`
        select kind, status, reason, target_key from notifications order by id`);
      return rows.map((row: Record<string, unknown>) => [
        String(row['kind']),
        String(row['status']),
        row['reason'] as string | null,
        String(row['target_key']).replace('email:', ''),
      ]);
    },
  };
}
