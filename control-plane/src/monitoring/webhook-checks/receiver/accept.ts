import type { PayloadStatus, SilentReason } from '@parallax/api-contract';
import { deliveryIdOf, greetingOf, jsonOf, keptBody } from '../payload.ts';
import type { Greeting, Json } from '../payload.ts';
import { judge } from '../rules.ts';
import type { Delivery } from '../signatures/verify.ts';
import type { ReceiverRow } from './queries.ts';

/** What a delivery that is rightly signed says. */
export type Told = {
  readonly deliveryId: string | null;
  readonly greeting: Greeting | undefined;
  /** Why it says nothing of the status; null when it does. */
  readonly reason: SilentReason | null;
  readonly status: PayloadStatus | null;
  readonly rule: number | null;
  readonly body: { readonly text: string; readonly isCut: boolean };
};

/** Reads a delivery whose signature was verified. */
export function tell(receiver: ReceiverRow, { headers, body }: Delivery): Told {
  const json = jsonOf(body);
  const signing = { signature: receiver.signature, custom: receiver.custom_hmac };
  const greeting = greetingOf(receiver.signature, headers, json);
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const common = { deliveryId: deliveryIdOf(signing, headers, json), greeting, body: keptBody(bytes) };
  if (greeting !== undefined) return { ...common, reason: greeting.reason, status: null, rule: null };
  return { ...common, ...said(receiver, bytes, json) };
}

function said(receiver: ReceiverRow, body: Buffer, json: Json): Pick<Told, 'reason' | 'status' | 'rule'> {
  const verdict = judge(receiver.rules, receiver.rules.length === 0 ? '' : body.toString('utf8'), json);
  return 'unreadable' in verdict
    ? { reason: verdict.unreadable, status: null, rule: null }
    : { reason: null, status: verdict.status, rule: verdict.rule };
}
