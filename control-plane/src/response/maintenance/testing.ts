import type { TestContext } from '@parallax/testkit';
import { maintenanceSchema } from '@parallax/api-contract';
import type { Maintenance } from '@parallax/api-contract';
import { z } from 'zod';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { groupsApi } from '../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../monitoring/groups/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { incidentsCapability } from '../incidents/index.ts';
import {
  forgetAnnouncedOfReset,
  leaveMaintenanceOfDeleted,
  leaveMaintenanceOfMoved,
  maintenanceCapability,
  removeMonitorMaintenance,
} from './index.ts';
import { settle, tick } from './job.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const iso = (ms: number): string => new Date(ms).toISOString();

/** What was written to the outbox, in order: `maintenance.started 7`, `down 3 held`. */
const newsRow = z.object({ kind: z.string(), payload: z.record(z.string(), z.unknown()) });

export type MaintenanceApi = GroupsApi & {
  /** Calls below `/maintenance` as the owner. */
  readonly plan: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Plans a maintenance of an hour of everything, an hour from now; must succeed. */
  readonly maintenance: (body?: Record<string, unknown>) => Promise<Maintenance>;
  readonly read: (id: number) => Promise<Maintenance>;
  /** Runs the clock at a time. @returns changes that it made */
  readonly tickAt: (ms: number) => Promise<number>;
  readonly settleAt: (ms: number) => Promise<number>;
  /** Tells a change of a monitor's status, as the ingest does, and has it consumed. */
  readonly turn: (monitorId: number, to: string, ms: number) => Promise<void>;
  /** Announcements of a monitor so far. */
  readonly told: (monitorId: number) => Promise<readonly string[]>;
  /** News of maintenance so far. */
  readonly news: () => Promise<readonly string[]>;
  /** When a monitor was under maintenance. */
  readonly intervals: (monitorId: number) => Promise<readonly (readonly [number, number | null])[]>;
};

/** For tests: the API with monitors, groups, incidents and maintenance. */
export async function maintenanceApi(t: TestContext): Promise<MaintenanceApi> {
  const api = await groupsApi(t, {
    monitors: {
      onMonitorDeleted: [leaveMaintenanceOfDeleted],
      onMonitorsMoved: [leaveMaintenanceOfMoved],
      onMonitorReset: [forgetAnnouncedOfReset],
      rowsOfMonitor: [removeMonitorMaintenance],
    },
    more: [incidentsCapability, maintenanceCapability],
  });
  let made = 0;
  const { database } = api;
  const plan: MaintenanceApi['plan'] = (method, path, body, more = {}) =>
    api.call(method, `/api/v1/maintenance${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...more,
    });
  const at = (ms: number) => ({ database, now: () => ms });
  return {
    ...api,
    plan,
    maintenance: async (body = {}) => {
      made += 1;
      const answer = await plan('POST', '', {
        workspace_id: api.workspaceId,
        name: `work ${made}`,
        scope: { all: true },
        // A calendar knows whole seconds only.
        starts_at: iso(Math.floor(Date.now() / 1_000) * 1_000 + hourMs),
        duration_seconds: 3_600,
        ...body,
      });
      if (answer.status !== 201) throw new Error(`plan: ${answer.status} ${answer.text}`);
      return maintenanceSchema.parse(answer.body);
    },
    read: async (id) => maintenanceSchema.parse((await plan('GET', `/${id}`)).body),
    tickAt: (ms) => tick(at(ms)),
    settleAt: (ms) => settle(at(ms)),
    turn: async (monitorId, to, ms) => {
      const payload = {
        monitor_id: monitorId,
        workspace_id: api.workspaceId,
        from: 'UNKNOWN',
        to,
        at: iso(ms),
        detected_at: iso(ms),
        evidence: {},
        range_started_at: iso(ms),
      };
      await database.worker.transaction((tx) =>
        enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
      );
      while ((await workOnce(api.context, maintenanceCapability.consumers ?? [])) > 0);
    },
    told: async (monitorId) => {
      const rows = await database.worker.any(sql.type(newsRow)`
        select kind, payload from outbox where kind = 'monitor.announced' and key = ${`monitor:${monitorId}`} order by id`);
      return rows.map(
        ({ payload }) => `${String(payload['announcement'])}${payload['was_held'] === true ? ' held' : ''}`,
      );
    },
    news: async () => {
      const rows = await database.worker.any(sql.type(newsRow)`
        select kind, payload from outbox where kind like 'maintenance.%' order by id`);
      return rows.map(({ kind, payload }) => `${kind} ${String(payload['maintenance_id'])}`);
    },
    intervals: async (monitorId) => {
      const rows = await database.worker.any(
        sql.type(
          z.object({ started_at: z.number(), ended_at: z.number().nullable() }),
        )`select started_at, ended_at from monitor_maintenance where monitor_id = ${monitorId} order by started_at, id`,
      );
      return rows.map((row) => [Math.round(row.started_at), row.ended_at === null ? null : Math.round(row.ended_at)]);
    },
  };
}
