import { createHmac, randomUUID } from 'node:crypto';
import { webhookCheckSchema } from '@parallax/api-contract';
import type { ShownWebhookCheck } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import { z } from 'zod';
import { auditCapability } from '../../identity/audit/index.ts';
import type { TestAnswer, TestCall } from '../../identity/testing.ts';
import { sql } from '../../platform/database/pools.ts';
import { monitorsApi } from '../testing.ts';
import type { MonitorsApi } from '../testing.ts';
import { webhookChecksCapability } from './index.ts';

/** What published examples of senders hold: each was looked up, and computed again with another implementation of HMAC, on 2026-11-22. */
export const published = {
  /** Standard Webhooks, the example of its reference libraries. */
  standard: {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    seconds: 1_614_265_330,
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
  },
  /** GitHub, "Validating webhook deliveries", "Testing the webhook payload validation". */
  github: {
    secret: "It's a Secret to Everybody",
    seconds: 1_614_265_330,
    body: 'Hello, World!',
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
  /** Slack, "Verifying requests from Slack". */
  slack: {
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    seconds: 1_531_420_618,
    body:
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA' +
      '&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554' +
      '%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
  },
  /** Stripe publishes none but that of its .NET library's tests; `v0` there is of another scheme. */
  stripe: {
    secret: 'webhook_secret',
    seconds: 1_533_204_620,
    body: `${JSON.stringify(
      {
        id: 'evt_123',
        object: 'event',
        account: 'acct_123',
        api_version: '2017-05-25',
        created: 1_533_204_620,
        data: {
          object: {
            id: 'ii_123',
            object: 'invoiceitem',
            amount: 1000,
            currency: 'usd',
            customer: 'cus_123',
            date: 1_533_204_620,
            description: 'Test Invoice Item',
            discountable: false,
            invoice: 'in_123',
            livemode: false,
            metadata: {},
            period: { start: 1_533_204_620, end: 1_533_204_620 },
            plan: null,
            proration: false,
            quantity: null,
            subscription: null,
          },
        },
        livemode: false,
        pending_webhooks: 1,
        request: { id: 'req_123', idempotency_key: 'idempotency-key-123' },
        type: 'invoiceitem.created',
      },
      null,
      2,
    )}\n`,
    headers: {
      'stripe-signature':
        't=1533204620,v1=f0bdba6d4eacbd8ad8a3bbadd7248e633ec1477f7899c124c51b39405fa36613,v0=63f3a72374a733066c4be69ed7f8e5ac85c22c9f0a6a612ab9a025a9e4ee7eef',
    },
  },
} as const;

const row = z.record(z.string(), z.unknown());

/** A delivery as a test sends it. */
export type Sent = {
  readonly body: string | Buffer<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
};

/** Signs by Standard Webhooks. @param secret with its prefix */
export function signStandard(
  secret: string,
  body: string,
  { id = `msg_${randomUUID()}`, seconds = Math.floor(Date.now() / 1_000) }: { id?: string; seconds?: number } = {},
): Sent {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` },
  };
}

export type WebhookChecksApi = MonitorsApi & {
  /** The clock of the API: moves by what is added here, in milliseconds. */
  readonly clock: { aheadMs: number };
  /** Calls below `/webhook-checks` as the owner. */
  readonly checks: (method: string, path: string, body?: unknown, more?: TestCall) => Promise<TestAnswer>;
  /** Makes a check of the owner; must succeed. */
  readonly check: (body?: Record<string, unknown>) => Promise<ShownWebhookCheck & { readonly slug: string }>;
  /** Delivers to a slug. */
  readonly send: (slug: string, sent: Sent, more?: { readonly from?: string }) => Promise<TestAnswer>;
  /** Rows of the outbox about checks, in order. */
  readonly told: () => Promise<readonly { readonly kind: string; readonly payload: Record<string, unknown> }[]>;
};

/** For tests: the API with webhook checks. */
export async function webhookChecksApi(
  t: TestContext,
  more: Parameters<typeof monitorsApi>[1] = {},
): Promise<WebhookChecksApi> {
  const clock = { aheadMs: 0 };
  const api = await monitorsApi(t, {
    ...more,
    more: [webhookChecksCapability, auditCapability],
    context: {
      // Like that of the product, it knows parts of milliseconds.
      now: () => Date.now() + clock.aheadMs + 0.25,
      ...more.context,
    },
  });
  let made = 0;
  const checks: WebhookChecksApi['checks'] = (method, path, body, call = {}) =>
    api.call(method, `/api/v1/webhook-checks${path}`, {
      token: api.token,
      ...(body === undefined ? {} : { body }),
      ...call,
    });
  return {
    ...api,
    clock,
    checks,
    check: async (body = {}) => {
      made += 1;
      const answer = await checks('POST', '', { workspace_id: api.workspaceId, name: `check ${made}`, ...body });
      if (answer.status !== 201) throw new Error(`create: ${answer.status} ${answer.text}`);
      return webhookCheckSchema.extend({ secret: z.string().nullable(), slug: z.string() }).parse(answer.body);
    },
    send: async (slug, { body, headers }, { from = '198.51.100.1' } = {}) => {
      const response = await fetch(`${api.url}/api/v1/webhook-check/${slug}`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', 'x-forwarded-for': from, ...headers },
        body,
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: row.parse(JSON.parse(text)), text };
    },
    told: () =>
      api.database.worker.any(sql.type(z.object({ kind: z.string(), payload: row }))`
        select kind, payload from outbox where kind like 'webhook_check.%' order by id`),
  };
}
