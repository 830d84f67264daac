import { withLookAlikes, withoutBlocks, zeroWidth } from './look-alikes.ts';

/**
 * For Zulip's Markdown, which knows no escapes (its processor leaves them out): marks of emphasis and code become look-alikes, and with the asterisks mentions
 * (`@**name**`), channels (`#**name**`) and their silent forms are out. Links, maths, emoji, times and avatars are broken.
 */
export function escapeZulip(text: string): string {
  return withoutBlocks(withLookAlikes(text, '_'))
    .replaceAll('](', `]${zeroWidth}(`)
    .replaceAll(/\$(?=\$)/gu, (sign) => sign + zeroWidth)
    .replaceAll(/:(?=[\w+-]+:)/gu, `:${zeroWidth}`)
    .replaceAll(/<(?=time:)|!(?=g?r?avatar\()/giu, (mark) => mark + zeroWidth)
    .replaceAll(/(https?|ftp)(?=:\/\/)/giu, (scheme) => scheme + zeroWidth);
}
