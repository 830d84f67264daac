import { createHash, createHmac } from 'node:crypto';

/** For tests: the token of a bot that does not exist. */
export const botToken = '123456789:AAtest-token_of-a-bot-that-is-none';

/** The key that the login widget signs with. */
export const widgetKey = createHash('sha256').update(botToken).digest();
const webappKey = createHmac('sha256', 'WebAppData').update(botToken).digest();

function hashOf(fields: Readonly<Record<string, string | number>>, key: Buffer): string {
  const lines = Object.keys(fields)
    .toSorted()
    .map((name) => `${name}=${fields[name]}`);
  return createHmac('sha256', key).update(lines.join('\n')).digest('hex');
}

/** For tests: what the login widget gives. */
export function signWidget(
  fields: Readonly<Record<string, string | number>>,
  key = widgetKey,
): Record<string, string | number> {
  return { ...fields, hash: hashOf(fields, key) };
}

/** For tests: what a mini app is given. */
export function signWebapp(fields: Readonly<Record<string, string>>, key = webappKey): string {
  return new URLSearchParams({ ...fields, hash: hashOf(fields, key) }).toString();
}
