import { said, smallPage } from '../../../platform/http/page.ts';
import type { Page } from '../../../platform/http/page.ts';
import { escapeHtml } from '../../../platform/mail/letter.ts';
import { pageWords } from './words.ts';

/** What a link is for, and whom. */
export type MailLink = {
  readonly purpose: 'confirm' | 'unsubscribe';
  readonly locale: 'en' | 'ru';
  readonly address: string;
};

/** The page of a link, without scripts: a form whose button sends to the page's own address. `isDone`: after it was pressed. */
export function mailLinkPage({ locale, purpose, address }: MailLink, isDone: boolean): Page {
  const words = pageWords[locale][purpose];
  const [head, text] = isDone ? words.done : [words.title, words.text];
  const form = isDone ? [] : [`<form method="post"><button>${escapeHtml(words.button)}</button></form>`];
  return smallPage({ locale, title: head, parts: [...said(head, [text(address)]), ...form] });
}

/** The page of a link that does not work. Nobody knows whose it was, so it speaks the language that is asked for. */
export function noMailLinkPage(locale: 'en' | 'ru'): Page {
  const [head, text] = pageWords[locale].invalid;
  return smallPage({ locale, title: head, parts: said(head, [text]) });
}
