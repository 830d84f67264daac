import type { TestContext } from '@parallax/testkit';
import { maintenanceSchema } from '@parallax/api-contract';
import type { Maintenance } from '@parallax/api-contract';
import { z } from 'zod';
import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { groupsApi } from '../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../monitoring/groups/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import {
  incidentsCapability,
  moveIncidents,
  removeIncidentsOfReset,
  resolveIncidentOfDeleted,
} from '../incidents/index.ts';
import {
  leaveMaintenanceOfDeleted,
  leaveMaintenanceOfMoved,
  maintenanceCapability,
  removeMonitorMaintenance,
} from './index.ts';
import { tellDue } from '../incidents/job.ts';
import { settle, tick } from './job.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const iso = (ms: number): string => new Date(ms).toISOString();

/** What was written to the outbox, in order: `maintenance.started 7`. */
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
  /** A heartbeat or webhook check tells of itself, and it is consumed. */
  readonly subjectTells: (type: 'heartbeat' | 'webhook_check', id: number, what: string, ms: number) => Promise<void>;
  /** What was announced of the incidents of a monitor so far: `opened`, `resolved`. */
  readonly told: (monitorId: number) => Promise<readonly string[]>;
  readonly toldOf: (type: string, id: number) => Promise<readonly string[]>;
  /** News of maintenance so far, for people. */
  readonly news: () => Promise<readonly string[]>;
  /** When a monitor was under maintenance. */
  readonly intervals: (monitorId: number) => Promise<readonly (readonly [number, number | null])[]>;
};

/** For tests: the API with monitors, groups, incidents and maintenance. @param more capabilities beside those */
export async function maintenanceApi(
  t: TestContext,
  more: readonly Capability<Context>[] = [],
): Promise<MaintenanceApi> {
  const api = await groupsApi(t, {
    monitors: {
      onMonitorDeleted: [resolveIncidentOfDeleted, leaveMaintenanceOfDeleted],
      onMonitorsMoved: [leaveMaintenanceOfMoved, moveIncidents],
      onMonitorReset: [removeIncidentsOfReset],
      rowsOfMonitor: [removeMonitorMaintenance],
    },
    more: [incidentsCapability, maintenanceCapability, ...more],
  });
  const { database } = api;
  let made = 0;
  const toldOf = async (type: string, id: number): Promise<readonly string[]> => {
    const rows = await database.worker.any(sql.type(newsRow)`
      select kind, payload from outbox
      where kind like 'incident.%' and payload -> 'members' @> ${JSON.stringify([{ type, id }])}::jsonb order by id`);
    return rows.map(({ kind }) => kind.slice('incident.'.length));
  };
  const plan: MaintenanceApi['plan'] = (method, path, body, more = {}) =>
    api.call(method, `/api/v1/maintenance${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...more,
    });
  /** Consumes what is in the outbox, and announces what is due, at a time. */
  const workOff = async (ms: number): Promise<void> => {
    const context = { ...api.context, now: () => ms };
    do while ((await workOnce(context, incidentsCapability.consumers ?? [])) > 0);
    while ((await tellDue(context)) > 0);
  };
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
    tickAt: async (ms) => {
      const changes = await tick(at(ms));
      await workOff(ms);
      return changes;
    },
    settleAt: async (ms) => {
      const changes = await settle(at(ms));
      await workOff(ms);
      return changes;
    },
    subjectTells: async (type, id, what, ms) => {
      const payload = { workspace_id: api.workspaceId, [`${type}_id`]: id, name: `${type} ${id}`, at: iso(ms) };
      await database.worker.transaction((tx) =>
        enqueue(tx, { key: `${type}:${id}`, kind: `${type}.${what}`, payload }),
      );
      await workOff(ms);
    },
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
      await workOff(ms);
    },
    told: async (monitorId) => toldOf('monitor', monitorId),
    toldOf: (type, id) => toldOf(type, id),
    news: async () => {
      const rows = await database.worker.any(sql.type(newsRow)`
        select kind, payload from outbox where kind like 'maintenance.%' and kind <> 'maintenance.released' order by id`);
      return rows.map(({ kind, payload }) => `${kind} ${String(payload['maintenance_id'])}`);
    },
    intervals: async (monitorId) => {
      const rows = await database.worker.any(
        sql.type(
          z.object({ started_at: z.number(), ended_at: z.number().nullable() }),
        )`select started_at, ended_at from maintenance_subjects
          where subject_type = 'monitor' and subject_id = ${monitorId} order by started_at, id`,
      );
      return rows.map((row) => [Math.round(row.started_at), row.ended_at === null ? null : Math.round(row.ended_at)]);
    },
  };
}
