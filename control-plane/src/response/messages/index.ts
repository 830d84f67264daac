// How a notice becomes a message, and how channels lay one out. All of it is pure.
export { asMail } from './as-html.ts';
export type { MailContent } from './as-html.ts';
export { asShort, segmentsOf } from './as-short.ts';
export { asText } from './as-text.ts';
export type { TextOptions } from './as-text.ts';
export { compose } from './compose.ts';
export { escapeHtml } from './escape/html.ts';
export { withLookAlikes, withoutBlocks, zeroWidth } from './escape/look-alikes.ts';
export { escapeMarkdown, markdownUrl } from './escape/markdown.ts';
export { escapeSlack } from './escape/slack.ts';
export { escapeZulip } from './escape/zulip.ts';
export { locales } from './locale.ts';
export type { Locale } from './locale.ts';
export { messageKinds } from './message.ts';
export type { Fact, Message, MessageKind, MessageLink, MessageState } from './message.ts';
export type * from './notice.ts';
export { cut, isolated, plainLine, plainLines } from './plain.ts';
export { samples } from './samples.ts';
