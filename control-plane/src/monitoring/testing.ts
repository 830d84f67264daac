import { errorCodes } from '@parallax/checks';
import type { CheckKind, ErrorCode, Outcome } from '@parallax/checks';
import type { TestContext } from '@parallax/testkit';
import { packFlags } from '@parallax/wire';
import { z } from 'zod';
import type { Capability } from '../capability.ts';
import type { Context } from '../context.ts';
import { apiKeysCapability } from '../identity/api-keys/index.ts';
import { authCapability } from '../identity/auth/index.ts';
import { signInCapability } from '../identity/sign-in/index.ts';
import { testApi } from '../identity/testing.ts';
import type { TestAccount, TestApi } from '../identity/testing.ts';
import { workspacesCapability } from '../identity/workspaces/index.ts';
import type { Bus } from '../platform/bus/bus.ts';
import type { MappedHosts } from '../platform/http/mapped-hosts.ts';
import type { PreparedAnswers } from '../platform/http/prepared/before-routes.ts';
import { sql } from '../platform/database/pools.ts';
import type { Database } from '../platform/database/pools.ts';
import { centralFlag, fallbackFlag } from './check-results/index.ts';
import { createMonitorsCapability } from './monitors/index.ts';
import type { MonitorsOptions } from './monitors/index.ts';

/** A broker of which only hints and questions are seen. */
export type TestBus = {
  readonly bus: Bus;
  /** Subjects of hints, in order. */
  readonly hints: string[];
  readonly questions: { readonly subject: string; readonly message: unknown; readonly timeoutMs: number }[];
  /** Answers a question; undefined is nobody. */
  answer: (subject: string, message: unknown) => unknown;
};

export function testBus(): TestBus {
  const seen: TestBus = {
    hints: [],
    questions: [],
    answer: () => undefined,
    bus: {
      get connection(): Bus['connection'] {
        throw new Error('this test has no broker');
      },
      hint: (subject) => {
        seen.hints.push(subject);
      },
      ask: async (subject, message, timeoutMs) => {
        seen.questions.push({ subject, message, timeoutMs });
        return seen.answer(subject, message);
      },
      listen: () => ({ stop: () => undefined }),
    },
  };
  return seen;
}

export type MonitorsApi = TestApi & {
  readonly broker: TestBus;
  readonly owner: TestAccount;
  readonly token: string;
  readonly workspaceId: number;
  /** Creates a monitor of the owner; the answer's body. */
  readonly monitor: (body?: Record<string, unknown>) => Promise<Record<string, unknown> & { readonly id: number }>;
};

/** For tests: the API with accounts and monitors, one account, its default workspace, and no probes. */
export async function monitorsApi(
  t: TestContext,
  options: {
    readonly monitors?: Partial<MonitorsOptions>;
    readonly more?: readonly Capability<Context>[];
    readonly context?: Partial<Context>;
    /** In place of a fresh one. */
    readonly database?: Database;
    /** Asked before the routes. */
    readonly prepared?: (context: Context) => PreparedAnswers;
    readonly mappedHosts?: (context: Context) => MappedHosts;
  } = {},
): Promise<MonitorsApi> {
  const broker = testBus();
  const api = await testApi(t, {
    context: { bus: broker.bus, ...options.context },
    ...(options.database === undefined ? {} : { database: options.database }),
    ...(options.prepared === undefined ? {} : { prepared: options.prepared }),
    ...(options.mappedHosts === undefined ? {} : { mappedHosts: options.mappedHosts }),
    capabilities: [
      authCapability,
      signInCapability,
      apiKeysCapability,
      workspacesCapability,
      createMonitorsCapability({ onMonitorDeleted: [], ...options.monitors }),
      ...(options.more ?? []),
    ],
  });
  const owner = await api.account('owner@example.com');
  const workspaceId = await defaultWorkspace(api, owner.accessToken);
  // The mail that welcomes the account: what is told of monitors stands alone.
  await api.database.worker.query(sql.unsafe`delete from outbox where kind = 'mail.send'`);
  return {
    ...api,
    broker,
    owner,
    token: owner.accessToken,
    workspaceId,
    monitor: async (body = {}) => {
      const made = await api.call('POST', '/api/v1/monitors', {
        token: owner.accessToken,
        body: { workspace_id: workspaceId, url: 'https://example.com/', ...body },
      });
      if (made.status !== 201) throw new Error(`create: ${made.status} ${JSON.stringify(made.body)}`);
      return made.body as Record<string, unknown> & { id: number };
    },
  };
}

/** The workspace that registration made. */
export async function defaultWorkspace(api: TestApi, token: string): Promise<number> {
  const list = await api.call('GET', '/api/v1/workspaces', { token });
  const [first] = z.object({ workspaces: z.array(z.object({ id: z.number() })) }).parse(list.body).workspaces;
  if (first === undefined) throw new Error('there is no workspace');
  return first.id;
}

/** Adds a member to a workspace, as an invitation would. */
export async function addMember(database: Database, workspaceId: number, userId: number, role: string): Promise<void> {
  await database.worker.query(sql.unsafe`
    insert into workspace_members (workspace_id, user_id, role) values (${workspaceId}, ${userId}, ${role})`);
}

/** A public probe that is online. @returns its identifier */
export async function addProbe(database: Database, name: string, region: string): Promise<number> {
  return database.worker.oneFirst(sql.type(z.object({ id: z.number() }))`
    insert into probes (name, region, signing_public_key, capabilities, last_seen_at)
    values (${name}, ${region}, ${sql.binary(Buffer.alloc(32, name))}, '{icmp}', now()) returning id`);
}

export type TestResult = {
  readonly monitorId: number;
  readonly probeId: number;
  readonly atMs: number;
  readonly outcome?: Outcome;
  readonly kind?: CheckKind;
  readonly central?: boolean;
  /** Beside probes; central too. */
  readonly fallback?: boolean;
  readonly totalUs?: number;
  readonly code?: ErrorCode;
};

/** Stores results as the ingest would. */
export async function addResults(database: Database, results: readonly TestResult[]): Promise<void> {
  const times = results.map((result) => result.atMs);
  const first = sql.timestamp(new Date(times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)));
  const last = sql.timestamp(new Date(times.reduce((most, at) => Math.max(most, at), 0)));
  await database.worker.query(sql.unsafe`select ensure_result_partitions(${first}, ${last})`);
  const rows = results.map((result) => [
    new Date(result.atMs).toISOString(),
    result.monitorId,
    result.probeId,
    packFlags(result.kind ?? 'scheduled', result.outcome ?? 'ok', undefined) |
      (result.central === true || result.fallback === true ? centralFlag : 0) |
      (result.fallback === true ? fallbackFlag : 0),
    result.totalUs ?? 20_000,
    result.code === undefined ? 0 : errorCodes[result.code],
  ]);
  await database.worker.query(sql.unsafe`
    insert into check_results (e, received_at, monitor_id, probe_id, probe_revision, flags, fresh_s, total_us, connect_us, error)
    select e, e + interval '1 second', monitor_id, probe_id, 1, flags, 160, total_us, 1500, error
    from ${sql.unnest(rows, ['timestamptz', 'int4', 'int4', 'int4', 'int4', 'int2'])} as given (e, monitor_id, probe_id, flags, total_us, error)`);
}

/** A range of a monitor's timeline, or of what one probe saw. */
export type TestRange = {
  readonly monitorId: number;
  readonly probeId?: number;
  readonly fromMs: number;
  readonly toMs: number | null;
  readonly status: 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED';
};

/** Writes a range, as the fold does; open where `toMs` is null. */
export async function addRange(database: Database, range: TestRange): Promise<void> {
  await addRanges(database, [range]);
}

/** Writes many ranges at once. */
export async function addRanges(database: Database, ranges: readonly TestRange[]): Promise<void> {
  const rowsOf = (some: readonly TestRange[]) =>
    sql.unnest(
      some.map((range) => [
        range.monitorId,
        range.probeId ?? 0,
        new Date(range.fromMs).toISOString(),
        range.toMs === null ? null : new Date(range.toMs).toISOString(),
        range.status,
      ]),
      ['int4', 'int4', 'timestamptz', 'timestamptz', 'text'],
    );
  const ofMonitors = ranges.filter(({ probeId }) => probeId === undefined);
  const ofProbes = ranges.filter(({ probeId }) => probeId !== undefined);
  const columns = sql.fragment`as made (monitor_id, probe_id, started_at, ended_at, status)`;
  await database.worker.query(sql.unsafe`
    insert into status_ranges (monitor_id, started_at, ended_at, status, evidence)
    select monitor_id, started_at, ended_at, status, '{"rule": "answered"}' from ${rowsOf(ofMonitors)} ${columns}`);
  await database.worker.query(sql.unsafe`
    insert into probe_ranges (monitor_id, probe_id, started_at, ended_at, status)
    select monitor_id, probe_id, started_at, ended_at, status from ${rowsOf(ofProbes)} ${columns}`);
}

/** Writes the read model of the ingest. */
export async function setStatus(database: Database, monitorId: number, status: string): Promise<void> {
  await database.worker.query(sql.unsafe`
    update monitors set status = ${status}, status_since = now() where id = ${monitorId}`);
}
