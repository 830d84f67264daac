import type { WebhookSignature } from '@parallax/api-contract';
import { ed25519Signature, hmacSignature, signingKey } from '../../../platform/crypto/webhook-signature.ts';
import type { SignedMessage } from '../../../platform/crypto/webhook-signature.ts';
import { OutboundError } from '../../../platform/outbound-http/index.ts';
import type { ExchangeOptions, OutboundClient, OutboundStep } from '../../../platform/outbound-http/index.ts';
import { retryAfterMs } from '../../channels/index.ts';
import type { WebhookSecrets } from '../seal.ts';
import type { Attempt } from './outcome.ts';
import { thinBody } from './thin.ts';

/** Everything together; connecting takes 5 s of it at most. */
export const usualTimeoutMs = 15_000;
const mostAnswerBytes = 20_000;

export type Sending = {
  readonly eventId: string;
  readonly body: string;
  readonly secrets: WebhookSecrets;
  readonly signature: WebhookSignature;
  readonly content: 'full' | 'thin';
  /** Until when the previous keys sign too. */
  readonly previousUntilMs: number | null;
};

export type AttemptParts = {
  readonly client: OutboundClient;
  readonly now: () => number;
  readonly timeoutMs?: number | undefined;
  readonly onStep?: (step: OutboundStep) => void;
  readonly keep?: ExchangeOptions['keep'];
};

/** The signatures of a message by the present keys, and during a rotation by those before. */
export function signaturesOf(sending: Sending, message: SignedMessage): string {
  const { secrets, previousUntilMs, signature } = sending;
  const isInGrace = secrets.previous !== null && (previousUntilMs ?? 0) > message.seconds * 1_000;
  const pairs = isInGrace && secrets.previous !== null ? [secrets, secrets.previous] : [secrets];
  return pairs
    .flatMap(({ secret, key }) => [
      ...(signature === 'v1a' ? [] : [hmacSignature(secret, message)]),
      ...(signature === 'v1' ? [] : [ed25519Signature(signingKey(key), message)]),
    ])
    .join(' ');
}

/** One attempt to deliver. Never throws for what the other side can bring about. */
export async function attemptDelivery(parts: AttemptParts, sending: Sending): Promise<Attempt> {
  const atMs = parts.now();
  const started = performance.now();
  const body = sending.content === 'thin' ? thinBody(sending.body) : sending.body;
  const message = { id: sending.eventId, seconds: Math.floor(atMs / 1_000), body };
  const end = () => ({ atMs, durationMs: Math.round(performance.now() - started) });
  try {
    const response = await parts.client(
      {
        method: 'POST',
        url: sending.secrets.url,
        headers: {
          ...sending.secrets.headers,
          'content-type': 'application/json',
          'webhook-id': message.id,
          'webhook-timestamp': String(message.seconds),
          'webhook-signature': signaturesOf(sending, message),
        },
        body,
      },
      { timeoutMs: parts.timeoutMs ?? usualTimeoutMs, onStep: parts.onStep, keep: parts.keep },
    );
    const isTaken = response.status >= 200 && response.status < 300;
    return {
      ...end(),
      statusCode: response.status,
      errorCode: isTaken ? null : response.status === 410 ? 'gone' : 'unexpected_status',
      error: isTaken ? null : `The receiver answered ${response.status}.`,
      answer: cutAnswer(response.text),
      retryAfterMs: isTaken ? undefined : retryAfterMs(response.headers, parts.now()),
    };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return {
      ...end(),
      statusCode: error.status ?? null,
      errorCode: error.code === 'answer_too_slow' ? 'timeout' : error.code,
      error: error.message,
      answer: null,
      retryAfterMs: undefined,
    };
  }
}

/** The beginning of an answer, as it can be stored. */
function cutAnswer(text: string): string {
  const bytes = Buffer.from(text.replaceAll('\0', '\uFFFD'));
  return bytes.length <= mostAnswerBytes
    ? bytes.toString()
    : bytes
        .subarray(0, mostAnswerBytes)
        .toString()
        .replace(/\uFFFD$/, '');
}
