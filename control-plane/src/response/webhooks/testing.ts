import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from '@parallax/testkit';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { groupsApi } from '../../monitoring/groups/testing.ts';
import type { GroupsApi } from '../../monitoring/groups/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import type { StoredEvent } from '../events/index.ts';
import { leaveWebhooksOfDeleted, leaveWebhooksOfMoved, webhooksCapability } from './index.ts';
import { takeEvents } from './taker.queries.ts';

/** What a receiver got. */
export type Received = { readonly headers: IncomingHttpHeaders; readonly body: string; readonly atMs: number };

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
      receiver.received.push({ headers: request.headers, body, atMs: Date.now() });
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
