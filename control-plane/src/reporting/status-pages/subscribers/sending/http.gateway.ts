import type { Context } from '../../../../context.ts';
import { hmacSignature } from '../../../../platform/crypto/webhook-signature.ts';
import { OutboundError } from '../../../../platform/outbound-http/index.ts';
import type { OutboundResponse } from '../../../../platform/outbound-http/index.ts';
import { NotTakenError } from './outcome.ts';

/** Everything together; a receiver has thousands of others waiting behind it. */
const timeoutMs = 10_000;

type Sending = Pick<Context, 'outbound' | 'now'>;

/**
 * Sends a body that is signed as outgoing webhooks are (Standard Webhooks), through the address policy.
 * @param message its id is the same at each try
 * @throws NotTakenError
 */
export async function sendSigned(
  context: Sending,
  url: string,
  secret: string,
  message: { readonly id: string; readonly body: string },
): Promise<OutboundResponse> {
  const seconds = Math.floor(context.now() / 1_000);
  return post(context, url, message.body, {
    'content-type': 'application/json',
    'webhook-id': message.id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': hmacSignature(secret, { ...message, seconds }),
  });
}

async function post(
  { outbound }: Sending,
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<OutboundResponse> {
  let response: OutboundResponse;
  try {
    response = await outbound.guarded({ method: 'POST', url, headers, body }, { timeoutMs });
  } catch (error) {
    // The URL is a secret of the receiver, so the text of the error is not repeated.
    if (error instanceof OutboundError) throw new NotTakenError(`the receiver was not reached: ${error.code}`);
    throw error;
  }
  if (response.status >= 200 && response.status < 300) return response;
  throw new NotTakenError(`the receiver answered ${response.status}`, response.status === 410);
}
