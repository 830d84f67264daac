import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/*
 * Data that Telegram signs for a bot: https://core.telegram.org/widgets/login#checking-authorization and
 * https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app. Both sign the same way under different keys.
 */

/** Who signed in, and by which signature; or why the data does not hold. */
export type Judged =
  | { readonly holds: true; readonly subject: string; readonly digest: Buffer; readonly profile?: Profile }
  | { readonly holds: false; readonly reason: 'malformed' | 'wrong_signature' | 'too_old' };

/** What a new account has from the person; null: nothing that fits. */
export type Profile = { readonly name: string | null; readonly locale: 'en' | 'ru' | null };

/** How long signed data counts, and how far ahead the messenger's clock may be. */
const maxAgeMs = 600_000;
/** A mini app has no other data as long as it is open, and sends it again whenever it needs a session. */
const maxAgeOfWebappMs = 3_600_000;
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
  return judge(texts, key, { id: texts.get('id'), nowMs, maxAgeMs });
}

/** Judges the init data of a mini app. @param initData a query string, as it was received */
export function judgeWebapp(initData: string, botToken: string, nowMs: number): Judged {
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const pairs = [...new URLSearchParams(initData)];
  const texts = new Map(pairs);
  if (texts.size !== pairs.length) return malformed;
  const user = userOf(texts.get('user'));
  const judged = judge(texts, key, { id: idOf(user), nowMs, maxAgeMs: maxAgeOfWebappMs });
  return judged.holds ? { ...judged, profile: profileOf(user) } : judged;
}

/** The signature is judged before anything that the fields say. */
function judge(
  fields: ReadonlyMap<string, string>,
  key: Buffer,
  {
    id,
    nowMs,
    maxAgeMs: oldestMs,
  }: { readonly id: string | undefined; readonly nowMs: number; readonly maxAgeMs: number },
): Judged {
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
  if (ageMs > oldestMs || ageMs < -maxAheadMs) return { holds: false, reason: 'too_old' };
  return { holds: true, subject: id ?? '', digest };
}

/** A line break inside a field would let one signed text be read as other fields. */
function isUnambiguous([name, value]: readonly [string, string]): boolean {
  return /^[a-z][a-z0-9_]{0,63}$/.test(name) && !/[\r\n]/.test(value);
}

/** The JSON of the field `user`; empty for anything else. */
function userOf(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const user: unknown = JSON.parse(text ?? '');
    return typeof user === 'object' && user !== null ? { ...user } : {};
  } catch {
    return {};
  }
}

function idOf({ id }: Readonly<Record<string, unknown>>): string | undefined {
  return Number.isSafeInteger(id) ? String(id) : undefined;
}

/** As long as the name of an account may be. */
const longestName = 80;

/** First and last name, and the language where it is one of ours (an IETF tag: https://core.telegram.org/bots/webapps#webappuser). */
function profileOf(user: Readonly<Record<string, unknown>>): Profile {
  const language = String(user['language_code']).toLowerCase().split('-')[0];
  const name = [user['first_name'], user['last_name']]
    .flatMap((part) => (typeof part === 'string' ? [plain(part)] : []))
    .filter((part) => part !== '')
    .join(' ');
  const locale = (['en', 'ru'] as const).find((known) => known === language) ?? null;
  return { name: name === '' ? null : shortened(name), locale };
}

/** Without what would not be seen or could change the text around it, or cannot be kept. */
function plain(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

/** Cut between characters. */
function shortened(text: string): string {
  let kept = '';
  for (const character of text) {
    if (kept.length + character.length > longestName) break;
    kept += character;
  }
  return kept.trimEnd();
}
