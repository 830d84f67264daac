import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createResolver } from '@parallax/checks';
import type { Resolver } from '@parallax/checks';
import type { TestContext } from '@parallax/testkit';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { groupsApi } from '../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../monitoring/groups/testing.ts';
import { createSealer } from '../../platform/crypto/seal.ts';
import type { Sealer } from '../../platform/crypto/seal.ts';
import { makeSigningPair, makeStandardSecret } from '../../platform/crypto/webhook-signature.ts';
import { sql } from '../../platform/database/pools.ts';
import { createOutboundClients } from '../../platform/outbound-http/index.ts';
import type { StoredEvent } from '../events/index.ts';
import { leaveWebhooksOfDeleted, leaveWebhooksOfMoved, webhooksCapability } from './index.ts';
import { sealSecrets } from './seal.ts';
import { Sender } from './sending/sender.job.ts';
import { takeEvents } from './taker.queries.ts';

/** What a receiver got. */
export type Received = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
};

export type Receiver = {
  readonly url: string;
  readonly received: Received[];
  /** How the next requests are answered; 200 without a body at first. */
  answer: (request: IncomingMessage, response: ServerResponse) => void;
};

/** A receiver of webhooks on 127.0.0.1 until the test ends. */
export async function startReceiver(t: TestContext): Promise<Receiver> {
  const receiver: { url: string; received: Received[]; answer: Receiver['answer'] } = {
    url: '',
    received: [],
    answer: (_request, response) => void response.end('ok'),
  };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      receiver.received.push({ path: request.url ?? '', headers: request.headers, body, atMs: Date.now() });
      receiver.answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/key-of-the-path`;
  return receiver;
}

export const loopback = ['127.0.0.1/32'];

/** Webhooks of a new workspace that want everything, without the API. */
export async function insertHooks(
  pool: DatabasePool,
  sealer: Sealer,
  hooks: readonly { readonly name: string; readonly url: string }[],
): Promise<{ readonly workspaceId: number }> {
  const userId = await pool.oneFirst(sql.typeAlias('id')`
    insert into users (email, password_hash, plan) values ('a@example.com', 'x', 'self_hosted') returning id`);
  const workspaceId = await pool.oneFirst(sql.typeAlias('id')`
    insert into workspaces (owner_id, name, ping_key) values (${userId}, 'w', 'key') returning id`);
  for (const [index, { name, url }] of hooks.entries()) {
    const pair = makeSigningPair();
    const id = index + 1;
    const sealed = sealSecrets(sealer, id, {
      url,
      headers: {},
      secret: makeStandardSecret(),
      key: pair.privateKey,
      previous: null,
    });
    await pool.query(sql.unsafe`
      insert into webhooks (id, workspace_id, maker_id, name, sealed, origin, header_names, public_key, events, covers_all, during_maintenance,
        signature, content)
      overriding system value
      values (${id}, ${workspaceId}, ${userId}, ${name}, ${sql.binary(sealed)}, 'http://127.0.0.1', '{}', ${pair.publicKey}, '{*}', true, 'send',
        'v1', 'full')`);
  }
  return { workspaceId };
}

export type WebhooksApi = GroupsApi & {
  /** Calls below `/webhooks` as the owner. */
  readonly webhooks: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Makes a webhook of the owner; must succeed. */
  readonly webhook: (body: Record<string, unknown>) => Promise<{ readonly id: number; readonly secret: string }>;
};

/** For tests: the API with monitors, groups and webhooks. Nothing sends. */
export async function webhooksApi(t: TestContext, context: Partial<Context> = {}): Promise<WebhooksApi> {
  const api = await groupsApi(t, {
    context: { allowedPrivateHooks: loopback, ...context },
    monitors: { onMonitorDeleted: [leaveWebhooksOfDeleted], onMonitorsMoved: [leaveWebhooksOfMoved] },
    more: [webhooksCapability],
  });
  const webhooks: WebhooksApi['webhooks'] = (method, path, body, call = {}) =>
    api.call(method, `/api/v1/webhooks${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...call,
    });
  return {
    ...api,
    webhooks,
    webhook: async (body) => {
      const made = await webhooks('POST', '', { workspace_id: api.workspaceId, name: 'hook', ...body });
      if (made.status !== 201) throw new Error(`create: ${made.status} ${made.text}`);
      return z.object({ id: z.number(), secret: z.string() }).parse(made.body);
    },
  };
}

export type SendingWorld = {
  readonly api: WebhooksApi;
  readonly receiver: Receiver;
  readonly sender: Sender;
  /** Sends what is due, after its clock has been put forward, until nothing is. */
  readonly run: (laterMs?: number) => Promise<void>;
};

/** The API, a receiver, and a sender that reaches 127.0.0.1 and waits 1.5 s for an answer. @param resolver who is asked for names; nobody at first */
export async function sendingWorld(
  t: TestContext & { readonly fail: (message: string) => unknown },
  resolver: Resolver = createResolver({ servers: ['127.0.0.1:9'] }),
): Promise<SendingWorld> {
  const sealer = createSealer(Buffer.alloc(32, 7));
  const denied: readonly never[] = [];
  const { guarded } = createOutboundClients({
    allowedPrivateTargets: loopback,
    deniedListeners: () => denied,
    now: Date.now,
    version: '0.0.0',
    resolver,
  });
  const api = await webhooksApi(t, { sealer });
  let aheadMs = 0;
  const sender = new Sender({
    pool: api.database.worker,
    client: guarded,
    sealer,
    replica: 'test',
    now: () => Date.now() + aheadMs,
    log: { error: (...given: unknown[]) => t.fail(JSON.stringify(given)) },
    timeoutMs: 1_500,
  });
  t.teardown(() => sender.stop());
  const run: SendingWorld['run'] = async (laterMs = 0) => {
    aheadMs += laterMs;
    while ((await sender.begin()) > 0) await sender.idle();
  };
  return { api, run, sender, receiver: await startReceiver(t) };
}

/** The newest delivery of a webhook, with its attempts. */
export async function only(api: WebhooksApi, webhookId: number): Promise<Record<string, unknown>> {
  const list = await api.webhooks('GET', `/${webhookId}/deliveries`);
  const [first] = z.object({ deliveries: z.array(z.object({ id: z.number() })) }).parse(list.body).deliveries;
  return (await api.webhooks('GET', `/${webhookId}/deliveries/${first?.id}`)).body;
}

export type TestEvent = {
  readonly type?: string;
  readonly subjectId?: number;
  readonly atMs?: number;
  readonly data?: Readonly<Record<string, unknown>>;
};

/** Stores events and lets webhooks take them, in one transaction. @returns their ids */
export async function storeEvents(
  pool: DatabasePool,
  workspaceId: number,
  events: readonly TestEvent[],
): Promise<readonly string[]> {
  const stored = events.map(
    ({ type = 'monitor.down', subjectId = 1, atMs = Date.now(), data = {} }, index): StoredEvent => {
      const subjectType = type.slice(0, type.indexOf('.'));
      const subject = { type: subjectType, id: subjectId, name: 'Shop', target: null, tags: [], group_ids: [] };
      const timestamp = new Date(atMs).toISOString();
      const body = { type, timestamp, workspace_id: workspaceId, sequence: index + 1, data: { subject, ...data } };
      return {
        eventId: `evt_${randomBytes(16).toString('hex')}`,
        workspaceId,
        type,
        subjectType,
        subjectId,
        sequence: index + 1,
        body: JSON.stringify(body),
        atMs,
      };
    },
  );
  await pool.transaction(async (transaction) => {
    await transaction.query(sql.unsafe`
      insert into events (event_id, workspace_id, type, subject_type, subject_id, sequence, body, at)
      select * from ${sql.unnest(
        stored.map((one) => [
          one.eventId,
          one.workspaceId,
          one.type,
          one.subjectType,
          one.subjectId,
          one.sequence,
          one.body,
          new Date(one.atMs).toISOString(),
        ]),
        ['text', 'int4', 'text', 'text', 'int4', 'int4', 'text', 'timestamptz'],
      )} as g`);
    for (let from = 0; from < stored.length; from += 1_000)
      await takeEvents(transaction, stored.slice(from, from + 1_000));
  });
  return stored.map(({ eventId }) => eventId);
}
