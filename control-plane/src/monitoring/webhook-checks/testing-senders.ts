import { createHmac, randomUUID } from 'node:crypto';
import { sign, verify } from '@octokit/webhooks-methods';
// The one file that verifies: the whole package brings a web server along.
import { isValidSlackRequest } from '@slack/bolt/dist/receivers/verify-request.js';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';

/** Headers of a delivery in the order in which they are sent. */
export type SentHeaders = Readonly<Record<string, string>>;

/** A sender's own library: how it signs, and what it takes for signed. Bodies are text: none of these libraries takes bytes that are no UTF-8. */
export type Sender = {
  readonly secret: string;
  readonly sign: (body: string, nowMs: number) => Promise<SentHeaders>;
  /** Judged now. */
  readonly accepts: (body: string, headers: SentHeaders) => Promise<boolean>;
  /** Headers of which no bit may differ. */
  readonly signed: readonly string[];
  /** Whether it deals with empty bodies at all. */
  readonly signsEmpty: boolean;
};

const standard = new Webhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
const hexSecret = '8f742231b10e8888abcd99bed2f77d85';
const seconds = (nowMs: number): number => Math.floor(nowMs / 1_000);

function does(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** For tests: the libraries of the four senders, by the form of their signatures. */
export const senders: Readonly<Record<'standard' | 'github' | 'stripe' | 'slack', Sender>> = {
  standard: {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    sign: async (body, nowMs) => {
      const id = `msg_${randomUUID()}`;
      return {
        'webhook-id': id,
        'webhook-timestamp': String(seconds(nowMs)),
        'webhook-signature': standard.sign(id, new Date(nowMs), body),
      };
    },
    accepts: async (body, headers) => does(() => standard.verify(body, { ...headers }, { jsonParse: false })),
    signed: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    signsEmpty: true,
  },
  github: {
    secret: hexSecret,
    sign: async (body) => ({
      'x-hub-signature-256': await sign(hexSecret, body),
      'x-github-delivery': randomUUID(),
      'x-github-event': 'push',
    }),
    accepts: async (body, headers) => verify(hexSecret, body, headers['x-hub-signature-256'] ?? ''),
    signed: ['x-hub-signature-256'],
    signsEmpty: false,
  },
  stripe: {
    secret: 'whsec_of_stripe_is_no_base64',
    sign: async (body, nowMs) => ({
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({
        payload: body,
        secret: 'whsec_of_stripe_is_no_base64',
        timestamp: seconds(nowMs),
      }),
    }),
    accepts: async (body, headers) => {
      const { signature, DEFAULT_TOLERANCE: tolerance } = Stripe.webhooks;
      if (signature === null) throw new Error('the library of Stripe verifies nothing');
      return does(() =>
        signature.verifyHeader(body, headers['stripe-signature'] ?? '', 'whsec_of_stripe_is_no_base64', tolerance),
      );
    },
    signed: ['stripe-signature'],
    signsEmpty: false,
  },
  slack: {
    secret: hexSecret,
    // Slack's library only verifies; what is signed here must pass there before it is sent.
    sign: async (body, nowMs) => ({
      'x-slack-request-timestamp': String(seconds(nowMs)),
      'x-slack-signature': `v0=${createHmac('sha256', hexSecret)
        .update(`v0:${seconds(nowMs)}:${body}`)
        .digest('hex')}`,
    }),
    accepts: async (body, headers) =>
      isValidSlackRequest({
        signingSecret: hexSecret,
        body,
        headers: {
          'x-slack-signature': headers['x-slack-signature'] ?? '',
          'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']),
        },
      }),
    signed: ['x-slack-request-timestamp', 'x-slack-signature'],
    signsEmpty: true,
  },
};
