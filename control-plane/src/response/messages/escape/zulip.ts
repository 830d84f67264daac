import { escapeMarkdown } from './markdown.ts';

const zeroWidth = '\u200b';

/**
 * For Zulip's Markdown, which is no CommonMark: mentions are `@**name**` and `@_**name**`, streams `#**name**`, emoji `:name:`, maths `$$…$$`; a backslash escapes
 * as in Markdown, and what opens one of these gets a zero-width space behind it as well.
 */
export function escapeZulip(text: string): string {
  return escapeMarkdown(text).replaceAll(/\\([#:$])/gu, `\\$1${zeroWidth}`);
}
