import { said, smallPage } from '../../../platform/http/page.ts';
import type { Page } from '../../../platform/http/page.ts';
import { escapeHtml } from '../../../platform/mail/letter.ts';
import { pageWords } from './words.ts';

/** Whom a link is for, and how they stand. */
export type ReportLink = {
  readonly report: string;
  readonly address: string;
  readonly locale: 'en' | 'ru';
  readonly isUnsubscribed: boolean;
};

/** The page of a link, without scripts: a form whose button turns over how its reader stands. @param isDone after a button was pressed */
export function reportLinkPage(link: ReportLink, isDone: boolean): Page {
  const words = pageWords[link.locale];
  const [head, text, button] = link.isUnsubscribed ? words.unsubscribed : isDone ? words.resumed : words.subscribed;
  const action = link.isUnsubscribed ? 'subscribe' : 'unsubscribe';
  const form = `<form method="post" action="?action=${action}"><button>${escapeHtml(button)}</button></form>`;
  return smallPage({ locale: link.locale, title: head, parts: [...said(head, [text(link)]), form] });
}

/** The page of a link that does not work. Nobody knows whose it was, so it speaks the language that is asked for. */
export function noReportLinkPage(locale: 'en' | 'ru'): Page {
  const [head, text] = pageWords[locale].invalid;
  return smallPage({ locale, title: head, parts: said(head, [text]) });
}
