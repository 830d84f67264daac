import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/*
 * Data that Telegram signs for a bot: https://core.telegram.org/widgets/login#checking-authorization and
 * https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app. Both sign the same way under different keys.
 */

/** Who signed in, with what must not count twice; or why the data does not hold. */
export type Judged =
  | { readonly holds: true; readonly subject: string; readonly digest: Buffer }
  | { readonly holds: false; readonly reason: 'malformed' | 'wrong_signature' | 'too_old' };

/** How long signed data counts, and how far ahead the messenger's clock may be. */
const maxAgeMs = 600_000;
const maxAheadMs = 60_000;

const malformed: Judged = { holds: false, reason: 'malformed' };

/** Judges the data of the login widget. @param fields every field as it was received */
export function judgeWidget(
  fields: Readonly<Record<string, string | number>>,
  botToken: string,
  nowMs: number,
): Judged {
  const key = createHash('sha256').update(botToken).digest();
  const texts = new Map(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  return judge(texts, key, texts.get('id'), nowMs);
}

/** Judges the init data of a mini app. @param initData a query string, as it was received */
export function judgeWebapp(initData: string, botToken: string, nowMs: number): Judged {
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const pairs = [...new URLSearchParams(initData)];
  const texts = new Map(pairs);
  if (texts.size !== pairs.length) return malformed;
  return judge(texts, key, userIdOf(texts.get('user')), nowMs);
}

/** The signature is judged before anything that the fields say. */
function judge(fields: ReadonlyMap<string, string>, key: Buffer, id: string | undefined, nowMs: number): Judged {
  const hash = fields.get('hash') ?? '';
  const others = [...fields].filter(([name]) => name !== 'hash');
  if (!/^[0-9a-f]{64}$/i.test(hash) || !others.every(isUnambiguous)) return malformed;
  const digest = Buffer.from(hash, 'hex');
  const text = others
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
  if (!timingSafeEqual(digest, createHmac('sha256', key).update(text).digest())) {
    return { holds: false, reason: 'wrong_signature' };
  }
  const signedAt = fields.get('auth_date') ?? '';
  // Telegram's identifiers have at most 52 bits.
  if (!/^[1-9][0-9]{0,15}$/.test(id ?? '') || !/^[0-9]{1,12}$/.test(signedAt)) return malformed;
  const ageMs = nowMs - Number(signedAt) * 1_000;
  if (ageMs > maxAgeMs || ageMs < -maxAheadMs) return { holds: false, reason: 'too_old' };
  return { holds: true, subject: id ?? '', digest };
}

/** A line break inside a field would let one signed text be read as other fields. */
function isUnambiguous([name, value]: readonly [string, string]): boolean {
  return /^[a-z][a-z0-9_]{0,63}$/.test(name) && !/[\r\n]/.test(value);
}

/** `id` of the JSON in the field `user`. */
function userIdOf(text: string | undefined): string | undefined {
  try {
    const user: unknown = JSON.parse(text ?? '');
    if (typeof user !== 'object' || user === null || !('id' in user)) return undefined;
    return Number.isSafeInteger(user.id) ? String(user.id) : undefined;
  } catch {
    return undefined;
  }
}
