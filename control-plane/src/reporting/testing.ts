import type { TestContext } from '@parallax/testkit';
import { monitorsApi } from '../monitoring/testing.ts';
import type { MonitorsApi } from '../monitoring/testing.ts';
import type { Capability } from '../capability.ts';
import type { Context } from '../context.ts';
import { sql } from '../platform/database/pools.ts';
import type { PreparedAnswers } from '../platform/http/prepared/before-routes.ts';
import { removeSlaRows, slaCapability, startNewChain } from './sla/index.ts';
import { statisticsCapability } from './statistics/index.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** For tests: the API with monitors, their statistics and their service levels, at a time that stands still. */
export type ReportingApi = MonitorsApi & {
  /** What the API takes for now, in milliseconds; a whole second. */
  readonly nowMs: number;
  /** A monitor of the owner that was made so long ago. */
  readonly oldMonitor: (ageMs: number, body?: Record<string, unknown>) => Promise<number>;
  /** GET of what must be there. */
  readonly get: (path: string, token?: string) => Promise<Record<string, unknown>>;
  /** GET of a file. */
  readonly file: (path: string) => Promise<{ readonly headers: Headers; readonly bytes: Buffer }>;
};

/**
 * @param options.more capabilities beside these
 * @param options.aheadMs of the clock of the database, by which access tokens begin: those of accounts that are made later are to be good at the
 * time that stands still. 0 where what goes by the database's clock is compared too.
 */
export async function reportingApi(
  t: TestContext,
  {
    aheadMs = 5 * minuteMs,
    more = [],
    prepared,
  }: {
    readonly aheadMs?: number;
    readonly more?: readonly Capability<Context>[];
    /** Asked before the routes. */
    readonly prepared?: ((context: Context) => PreparedAnswers) | undefined;
  } = {},
): Promise<ReportingApi> {
  let stoppedMs: number | undefined;
  const api = await monitorsApi(t, {
    monitors: { onMonitorReset: [startNewChain], rowsOfMonitor: [removeSlaRows] },
    more: [statisticsCapability, slaCapability, ...more],
    context: { now: () => stoppedMs ?? Date.now() },
    ...(prepared === undefined ? {} : { prepared }),
  });
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000 + aheadMs;
  stoppedMs = nowMs;
  return {
    ...api,
    nowMs,
    oldMonitor: async (ageMs, body = {}) => {
      const { id } = await api.monitor(body);
      const at = sql.timestamp(new Date(nowMs - ageMs));
      await api.database.worker.query(sql.unsafe`update monitors set created_at = ${at} where id = ${id}`);
      await api.database.worker.query(sql.unsafe`update assignments set started_at = ${at} where monitor_id = ${id}`);
      return id;
    },
    get: async (path, token = api.token) => {
      const answer = await api.call('GET', path, { token });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    file: async (path) => {
      const answer = await fetch(api.url + path, { headers: { authorization: `Bearer ${api.token}` } });
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${bytes.toString()}`);
      return { headers: answer.headers, bytes };
    },
  };
}

/** ISO 8601 as answers write it. */
export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
