const zeroWidth = '\u200b';

/**
 * For Slack's mrkdwn. Only three characters have escapes (docs.slack.dev, "Formatting message text"); emphasis has none, so what would begin or end it gets a
 * zero-width space beside it, as do names of emoji. Broadcasts and mentions need `<`, which is escaped; `@here` in plain text tells nobody.
 */
export function escapeSlack(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[*_~`]/gu, (mark) => mark + zeroWidth)
    .replaceAll(/:(?=[a-z0-9_+'-]+:)/giu, `:${zeroWidth}`);
}
