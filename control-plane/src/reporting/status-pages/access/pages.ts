import { pageAccessLimits } from '@parallax/api-contract';
import { said, smallPage } from '../../../platform/http/page.ts';
import type { Page } from '../../../platform/http/page.ts';
import { escapeHtml } from '../../../platform/mail/letter.ts';
import type { Locale } from '../view/locale.ts';
import type { PageAccess } from './page-access.ts';
import { unlockWords } from './words.ts';
import type { UnlockProblem } from './words.ts';

/** The form of a private page, which tells nothing of the page. Without scripts. */
export function unlockForm(
  locale: Locale,
  access: Pick<PageAccess, 'passwordHash' | 'mailDomains'>,
  form: {
    /** Where it is sent. */
    readonly action: string;
    /** What is opened afterwards, below the page. */
    readonly to: string;
    readonly problem?: UnlockProblem | undefined;
  },
): Page {
  const words = unlockWords[locale];
  const { problem } = form;
  const asksPassword = access.passwordHash !== null;
  const asksMail = access.mailDomains.length > 0;
  return smallPage({
    locale,
    title: problem === undefined ? words.title : `${words.error}: ${words.title}`,
    parts: [
      ...said(words.title, asksPassword || asksMail ? [] : [words.networks]),
      ...(problem === undefined ? [] : [`<p id="problem" role="alert">${escapeHtml(words.problems[problem])}</p>`]),
      ...(asksPassword ? passwordForm(locale, form) : []),
      ...(asksMail ? mailForm(locale, form, asksPassword) : []),
    ],
  });
}

type Form = { readonly action: string; readonly to: string; readonly problem?: UnlockProblem | undefined };

function passwordForm(locale: Locale, { action, to, problem }: Form): string[] {
  const words = unlockWords[locale];
  const isWrong = problem === 'wrong' ? ' aria-invalid="true" aria-describedby="problem" autofocus' : '';
  return [
    `<form method="post" action="${escapeHtml(action)}">`,
    `<input type="hidden" name="to" value="${escapeHtml(to)}">`,
    `<label for="password">${escapeHtml(words.password)}</label>`,
    `<input id="password" name="password" type="password" autocomplete="current-password" maxlength="${pageAccessLimits.passwordMax}" required${isWrong}>`,
    `<button>${escapeHtml(words.open)}</button>`,
    '</form>',
  ];
}

function mailForm(locale: Locale, { action, to, problem }: Form, isSecond: boolean): string[] {
  const words = unlockWords[locale];
  const isWrong = problem === 'mail';
  return [
    ...(isSecond ? [`<h2>${escapeHtml(words.mailHead)}</h2>`] : []),
    `<form method="post" action="${escapeHtml(action)}">`,
    `<input type="hidden" name="to" value="${escapeHtml(to)}">`,
    `<label for="mail">${escapeHtml(words.mail)}</label>`,
    `<input id="mail" name="mail" type="email" autocomplete="email" maxlength="254" required aria-describedby="${isWrong ? 'problem ' : ''}mail-hint"${isWrong ? ' aria-invalid="true" autofocus' : ''}>`,
    `<p id="mail-hint">${escapeHtml(words.mailHint)}</p>`,
    `<button${isSecond ? ' class="other"' : ''}>${escapeHtml(words.send)}</button>`,
    '</form>',
  ];
}

/** What is said to whoever asks for a link, whatever their address is. */
export function askedPage(locale: Locale): Page {
  const [head, text] = unlockWords[locale].asked;
  return smallPage({ locale, title: head, parts: said(head, [text]) });
}

/** The page behind a mailed link. Its button unlocks: programs that look at mails open links. */
export function linkPage(locale: Locale): Page {
  const words = unlockWords[locale];
  const [head, text] = words.link;
  const form = `<form method="post"><button>${escapeHtml(words.open)}</button></form>`;
  return smallPage({ locale, title: head, parts: [...said(head, [text]), form] });
}

/** The page of a link that unlocks nothing. */
export function deadLinkPage(locale: Locale): Page {
  const [head, text] = unlockWords[locale].dead;
  return smallPage({ locale, title: head, parts: said(head, [text]) });
}
