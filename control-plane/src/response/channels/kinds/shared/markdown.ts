import { escapeMarkdown, markdownUrl } from '../../../messages/index.ts';
import type { Markup } from './lay-out.ts';

/** CommonMark and its relatives: bold by two asterisks, masked links. */
export const markdown: Markup = {
  escape: escapeMarkdown,
  title: (text) => `**${escapeMarkdown(text)}**`,
  heading: (text) => `**${escapeMarkdown(text)}**`,
  fact: (label, value) => `**${escapeMarkdown(label)}:** ${escapeMarkdown(value)}`,
  link: ({ label, url }) => `[${escapeMarkdown(label)}](${markdownUrl(url)})`,
};
