import { cut, escapeSlack } from '../../../../response/messages/index.ts';
import { noticeUrl } from './notice.ts';
import type { Notice } from './notice.ts';
import { noticeText } from './notice-text.ts';
import { noticeWords } from './words.ts';

// docs.slack.dev, "chat.postMessage": texts are cut above 40,000 characters, and best below 4,000.
const longest = 3_000;

/** Slack's incoming webhooks, and those of Mattermost and Rocket.Chat, take a text with links in angle brackets. */
type ChatBody = { readonly text: string; readonly unfurl_links: false };

const link = (url: string, label: string): string => `<${url}|${escapeSlack(label)}>`;

/** A notice for a room. */
export function noticeChat(notice: Notice): ChatBody {
  const { subject, paragraphs, open } = noticeText(notice);
  const text = [
    `*${escapeSlack(cut(subject, 200))}*`,
    escapeSlack(cut(paragraphs.join('\n'), longest)),
    `${link(noticeUrl(notice), open)} · ${link(notice.manageUrl, noticeWords[notice.locale].manage)}`,
  ].join('\n');
  return { text, unfurl_links: false };
}

/** Asks a room whether it wants to be told: the button of the page that it leads to confirms it. */
export function confirmChat(facts: Pick<Notice, 'locale' | 'manageUrl'> & { readonly page: string }): ChatBody {
  const words = noticeWords[facts.locale];
  return {
    text: `${escapeSlack(words.confirm(cut(facts.page, 60)))}\n${link(facts.manageUrl, facts.manageUrl)}`,
    unfurl_links: false,
  };
}
