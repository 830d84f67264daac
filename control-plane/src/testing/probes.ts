import { randomBytes } from 'node:crypto';
import { quietLog } from '@parallax/testkit';
import type { Context } from '../context.ts';
import { testLimits } from './limits.ts';
import type { Bus } from '../platform/bus/bus.ts';
import { createSealer } from '../platform/crypto/seal.ts';
import { sql } from '../platform/database/pools.ts';
import type { Database } from '../platform/database/pools.ts';
import { createOutboundClients } from '../platform/outbound-http/index.ts';

/** For tests: a bus inside the process that keeps what was hinted. */
export type MemoryBus = Bus & { readonly hints: { readonly subject: string; readonly message: unknown }[] };

export function memoryBus(): MemoryBus {
  const listeners = new Map<string, Set<(message: unknown) => unknown>>();
  const hints: { subject: string; message: unknown }[] = [];
  return {
    hints,
    // Nothing here talks to a broker.
    connection: undefined as unknown as Bus['connection'],
    hint: (subject, message) => {
      hints.push({ subject, message });
      for (const listener of listeners.get(subject) ?? []) void listener(message);
    },
    ask: async (subject, message) => {
      for (const listener of listeners.get(subject) ?? []) {
        const answer = await listener(message);
        if (answer !== undefined) return answer;
      }
      return undefined;
    },
    listen: (subject, onMessage) => {
      const of = listeners.get(subject) ?? new Set();
      listeners.set(subject, of.add(onMessage));
      return { stop: () => void of.delete(onMessage) };
    },
  };
}

/** For tests: what a capability is given, on a free port and with the machine's clock. */
export function testContext(database: Database, bus: Bus, more: Partial<Context> = {}): Context {
  return {
    database,
    bus,
    sealer: createSealer(randomBytes(32)),
    mailer: { send: async () => undefined },
    log: quietLog,
    replica: 'test',
    now: () => Date.now(),
    publicUrl: 'http://localhost:8080',
    shards: 1,
    limits: testLimits,
    registration: 'open',
    signIn: { identityProviders: {} },
    defaultPlan: 'self_hosted',
    isPublished: false,
    needsSetupToken: () => false,
    addresses: { session: '127.0.0.1:9443', enrolment: '127.0.0.1:9444', broker: '127.0.0.1:4222' },
    listen: { grpcHost: '127.0.0.1', grpcPort: 0, enrolmentPort: 0 },
    deniedListeners: () => [{ address: '127.0.0.1', port: 5432 }],
    allowedPrivateTargets: [],
    administratorPrivateTargets: [],
    allowedPrivateHooks: [],
    canaries: [],
    outbound: createOutboundClients({
      allowedPrivateTargets: more.allowedPrivateHooks ?? [],
      deniedListeners: more.deniedListeners ?? (() => []),
      now: more.now ?? Date.now,
      version: 'test',
    }),
    deliveryMetrics: { tried: () => undefined, told: () => undefined },
    channels: { baseUrls: {}, hasMailServer: true, hasTeamChatApp: false },
    version: 'test',
    ...more,
  };
}

/** For tests: an account with a workspace. */
export async function makeWorkspace(database: Database): Promise<{ userId: number; workspaceId: number }> {
  const name = randomBytes(6).toString('hex');
  const { id: userId } = await database.worker.one(sql.typeAlias('id')`
    insert into users (email, password_hash, plan) values (${`${name}@example.org`}, 'none', 'self_hosted') returning id`);
  const { id: workspaceId } = await database.worker.one(sql.typeAlias('id')`
    insert into workspaces (owner_id, name, ping_key) values (${userId}, 'Default', ${name}) returning id`);
  return { userId, workspaceId };
}

/** For tests: probes without an agent behind them; unless said otherwise they have had a session. */
export async function makeProbes(
  database: Database,
  probes: readonly {
    name: string;
    region: string;
    capabilities?: readonly string[];
    workspaceId?: number;
    hasConnected?: boolean;
  }[],
): Promise<number[]> {
  const ids: number[] = [];
  for (const probe of probes) {
    const { id } = await database.worker.one(sql.typeAlias('id')`
      insert into probes (workspace_id, name, region, signing_public_key, capabilities, last_seen_at)
      values (${probe.workspaceId ?? null}, ${probe.name}, ${probe.region}, ${sql.binary(randomBytes(32))},
        ${sql.array([...(probe.capabilities ?? [])], 'text')}, case when ${probe.hasConnected ?? true} then now() end) returning id`);
    ids.push(id);
  }
  return ids;
}

/** For tests: many monitors at once, without seats. */
export async function makeMonitors(
  database: Database,
  owner: { userId: number; workspaceId: number },
  count: number,
): Promise<number[]> {
  const rows = await database.worker.any(sql.typeAlias('id')`
    insert into monitors (workspace_id, owner_id, name, url, protocol, interval_seconds, timeout_seconds, settings)
    select ${owner.workspaceId}, ${owner.userId}, 'monitor ' || gen_random_uuid(), 'http://example.org/' || n, 'http', 60, 10,
      '{"method": "GET"}'
    from generate_series(1, ${count}::int) as n returning id`);
  return rows.map((row) => row.id);
}
