import { withLookAlikes, zeroWidth } from './look-alikes.ts';

/**
 * For Slack's mrkdwn. Three characters have escapes (docs.slack.dev, "Formatting message text"), and with `<` broadcasts and mentions are out; emphasis has none, so
 * its marks become look-alikes but within words, where they mean nothing. Names of emoji are broken.
 */
export function escapeSlack(text: string): string {
  return withLookAlikes(text, '*_~')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/:(?=[a-z0-9_+'-]+:)/giu, `:${zeroWidth}`);
}
