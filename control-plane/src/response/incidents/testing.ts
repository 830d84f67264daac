import type { TestContext } from '@parallax/testkit';
import { errorCodes } from '@parallax/checks';
import type { ErrorCode } from '@parallax/checks';
import { z } from 'zod';
import { monitorsApi } from '../../monitoring/testing.ts';
import type { MonitorsApi } from '../../monitoring/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import type { OutboxEntry } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { incidentsCapability, moveIncidents, removeIncidentsOfReset, resolveIncidentOfDeleted } from './index.ts';
import { tellDue } from './job.ts';

const messageRow = z.object({ kind: z.string(), payload: z.looseObject({ incident_id: z.number(), seq: z.number() }) });

export type IncidentsApi = MonitorsApi & {
  /** Milliseconds since the epoch as the product sees them; moved by the test. */
  readonly clock: { nowMs: number };
  /** A call of the owner below `/incidents`. */
  readonly incidents: (method: string, path?: string, body?: unknown) => Promise<Record<string, unknown>>;
  /** A monitor goes down or comes up, as the ingest tells it; worked off. */
  readonly turns: (monitorId: number, to: 'DOWN' | 'TIMEOUT' | 'UP', atMs: number, cause?: Cause) => Promise<void>;
  /** Something else of the outbox; worked off. */
  readonly tell: (key: string, kind: string, payload: object) => Promise<void>;
  /** The same for much that comes at once. */
  readonly tellAll: (entries: readonly OutboxEntry[]) => Promise<void>;
  /** What was announced, in order; of each incident numbered from 1. */
  readonly messages: () => Promise<readonly (Record<string, unknown> & { kind: string; incident_id: number })[]>;
  /** Time passes, and what is due then is announced. */
  readonly passes: (ms: number) => Promise<void>;
};

/** Why a probe says that a monitor fails. */
export type Cause = { readonly probeId?: number; readonly code: ErrorCode; readonly evidence: object };

/** For tests: the API with incidents, a clock that stands, and workers that run when they are asked to. */
export async function incidentsApi(
  t: TestContext,
  more: Parameters<typeof monitorsApi>[1] = {},
): Promise<IncidentsApi> {
  // It stands once there is an account, whose token must not be of the future.
  const clock = { nowMs: Number.NaN };
  const api = await monitorsApi(t, {
    ...more,
    monitors: {
      onMonitorDeleted: [resolveIncidentOfDeleted],
      onMonitorReset: [removeIncidentsOfReset],
      onMonitorsMoved: [moveIncidents],
      ...more.monitors,
    },
    more: [incidentsCapability, ...(more.more ?? [])],
    context: { now: () => (Number.isNaN(clock.nowMs) ? Date.now() : clock.nowMs), ...more.context },
  });
  clock.nowMs = Date.now();
  const consumers = [incidentsCapability, ...(more.more ?? [])].flatMap((one) => one.consumers ?? []);
  const settle = async (): Promise<void> => {
    while ((await workOnce(api.context, consumers)) > 0);
  };
  const tellAll: IncidentsApi['tellAll'] = async (entries) => {
    await api.database.worker.transaction((tx) => enqueue(tx, ...entries));
    await settle();
  };
  const tell: IncidentsApi['tell'] = (key, kind, payload) => tellAll([{ key, kind, payload }]);
  return {
    ...api,
    clock,
    tell,
    tellAll,
    incidents: async (method, path = '', body) => {
      const answer = await api.call(method, `/api/v1/incidents${path}`, {
        token: api.token,
        ...(body === undefined ? {} : { body }),
      });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    turns: async (monitorId, to, atMs, cause) => {
      const at = new Date(atMs).toISOString();
      const voter = cause?.probeId ?? 1;
      const error = cause === undefined ? 0 : errorCodes[cause.code];
      if (cause !== undefined) {
        await api.database.worker.query(sql.unsafe`
          insert into result_evidence (monitor_id, e, probe_id, message, evidence)
          values (${monitorId}, ${sql.timestamp(new Date(atMs))}, ${voter}, 'failed', ${JSON.stringify(cause.evidence)}::jsonb)`);
      }
      const voters = to === 'UP' ? [] : [{ voter, vote: to, sinceUs: atMs * 1_000, error }];
      await tell(`monitor:${monitorId}`, 'monitor.transition', {
        monitor_id: monitorId,
        workspace_id: api.workspaceId,
        from: to === 'UP' ? 'DOWN' : 'UP',
        to,
        at,
        detected_at: at,
        evidence: { rule: 'quorum_failing', quorum: 1, voters, missing: [] },
        range_started_at: to === 'UP' ? null : at,
      });
    },
    messages: async () => {
      const rows = await api.database.worker.any(sql.type(messageRow)`
        select kind, payload from outbox where kind like 'incident.%' order by id`);
      return rows.map(({ kind, payload }) => ({ kind, ...payload }));
    },
    passes: async (ms) => {
      clock.nowMs += ms;
      await tellDue(api.context);
      await settle();
    },
  };
}
