import { createHmac } from 'node:crypto';
import { webAddress } from '@parallax/api-contract';
import type { SubscriberKind } from '@parallax/api-contract';
import { isRoomUrl } from '../../../response/channels/index.ts';
import { isMailAddress } from '../../../platform/mail/mail-address.ts';

/** Where a subscriber is reached. */
export type SubscriberTarget = { readonly kind: SubscriberKind; readonly target: string };

/** Reads what somebody typed, in the one form in which it is stored. @returns undefined: it cannot be used */
export function targetOf(kind: SubscriberKind, typed: string): SubscriberTarget | undefined {
  const text = typed.trim();
  if (kind !== 'email') {
    if (!webAddress.safeParse(text).success) return undefined;
    const target = new URL(text).href;
    return kind === 'webhook' || isRoomUrl(kind, target) ? { kind, target } : undefined;
  }
  const at = text.lastIndexOf('@');
  if (at === -1) return undefined;
  const target = `${text.slice(0, at)}@${text.slice(at + 1).toLowerCase()}`;
  return isMailAddress(target) ? { kind, target } : undefined;
}

/** By what it is found again: mail servers take a local part in any case, so it counts in none. @param key of the installation */
export function targetHash(key: Uint8Array, { kind, target }: SubscriberTarget): Buffer {
  const one = kind === 'email' ? target.toLowerCase() : target;
  return createHmac('sha256', key).update(`${kind} ${one}`).digest();
}

/** As others than its owner see it: the URL of a webhook or a room is a secret. */
export function shownTarget({ kind, target }: SubscriberTarget): string {
  return kind === 'email' ? target : new URL(target).origin;
}
