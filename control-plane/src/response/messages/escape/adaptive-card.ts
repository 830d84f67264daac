import { withLookAlikes, withoutBlocks, zeroWidth } from './look-alikes.ts';

/**
 * For the text of a TextBlock or a Fact in an Adaptive Card, which knows bold, italics, lists and links, dates (`{{DATE(…)}}`), templates (`${…}`) and mentions
 * (`<at>`). Clients do not agree on backslashes, so nothing is escaped by one.
 */
export function escapeAdaptiveCard(text: string): string {
  return withoutBlocks(withLookAlikes(text, '_~'))
    .replaceAll('](', `]${zeroWidth}(`)
    .replaceAll(/[{$](?=\{)/gu, (sign) => sign + zeroWidth)
    .replaceAll(/<(?=\/?at\b)/giu, `<${zeroWidth}`);
}
