import { smallPage, said } from '../../platform/http/page.ts';
import type { Page } from '../../platform/http/page.ts';
import { escapeHtml } from '../../platform/mail/letter.ts';
import { harmlessName, shownName } from '../workspaces/index.ts';
import type { Locale } from '../workspaces/index.ts';
import type { InviteForm } from './form.ts';
import { invitePageWords } from './words.ts';
import type { FormProblem, InvitePageWords } from './words.ts';

// Takes the token out of the fragment, so that no history keeps it, and sends it as the form that stands there for those without scripts.
const script = `
(() => {
  'use strict';
  const token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  if (!/^[A-Za-z0-9_-]{1,500}$/.test(token)) return;
  const form = document.getElementById('open');
  document.getElementById('token').value = token;
  form.submit();
})();
`;

/** The page that the link opens: the same for every invitation, since its token reaches no server before the form is sent. */
export function openingPage(locale: Locale): Page {
  const words = invitePageWords[locale];
  const [head, text] = words.paste;
  return smallPage({
    locale,
    title: words.title,
    parts: [
      ...said(head, [text]),
      '<form id="open" method="post">',
      `<label for="token">${escapeHtml(words.link)}</label>`,
      '<input id="token" name="token" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="4000" required>',
      `<button>${escapeHtml(words.show)}</button>`,
      '</form>',
    ],
    script,
    submits: true,
  });
}

/** The page of an invitation that lets nobody in. */
export function deadPage(locale: Locale, why: keyof InvitePageWords['dead']): Page {
  const words = invitePageWords[locale];
  const [head, text] = words.dead[why];
  return smallPage({ locale, title: words.title, parts: said(head, [text]) });
}

/** What an invitation says of itself. */
export type ShownInvite = {
  readonly workspace: string;
  readonly role: 'editor' | 'viewer';
  readonly email: string | null;
  readonly inviter: { readonly id: number; readonly display_name: string | null } | null;
};

/** The page of an invitation that works, with the forms to join by it. @param given with what was wrong, shown at its form */
export function invitationPage(
  locale: Locale,
  invite: ShownInvite,
  given: { readonly form: InviteForm; readonly problem?: FormProblem | undefined; readonly mayRegister: boolean },
): Page {
  const words = invitePageWords[locale];
  const { form, problem, mayRegister } = given;
  const who = invite.inviter === null ? words.somebody : shownName(invite.inviter, locale);
  const head = words.invites(who, harmlessName(invite.workspace));
  const texts = [words.may[invite.role], ...(invite.email === null ? [] : [words.mailedTo(invite.email)])];
  const failed = problem === undefined ? undefined : atForm(form, problem, mayRegister);
  const common = { words, token: form.token, email: invite.email ?? form.email, isFixed: invite.email !== null };
  return smallPage({
    locale,
    title: problem === undefined ? words.title : `${words.error}: ${words.title}`,
    parts: [
      ...said(head, texts),
      ...(mayRegister ? joinForm({ ...common, action: 'register', problem: failed?.register }) : []),
      ...joinForm({ ...common, action: 'sign-in', problem: failed?.signIn }),
    ],
  });
}

/** Which form a problem is shown at: that of the other way where it is the one that helps. */
function atForm(
  form: InviteForm,
  problem: FormProblem,
  mayRegister: boolean,
): { readonly register?: FormProblem; readonly signIn?: FormProblem } {
  const isOfRegister = form.action === 'register' && mayRegister && problem !== 'email_taken';
  return isOfRegister ? { register: problem } : { signIn: problem };
}

type JoinForm = {
  readonly words: InvitePageWords;
  readonly action: 'register' | 'sign-in';
  readonly token: string;
  readonly email: string;
  /** The invitation is for this very address. */
  readonly isFixed: boolean;
  readonly problem: FormProblem | undefined;
};

function joinForm({ words, action, token, email, isFixed, problem }: JoinForm): string[] {
  const isNew = action === 'register';
  // Identifiers are those of one document.
  const of = (name: string): string => `${action}-${name}`;
  const wrong = (names: readonly FormProblem[]): string =>
    problem !== undefined && names.includes(problem) ? ' aria-invalid="true" autofocus' : '';
  const hinted = (name: string): string => ` aria-describedby="${of(name)}"`;
  const label = (name: string, text: string): string => `<label for="${of(name)}">${escapeHtml(text)}</label>`;
  return [
    `<h2 id="${of('head')}">${escapeHtml(isNew ? words.create : words.signIn)}</h2>`,
    `<form method="post" aria-labelledby="${of('head')}">`,
    ...(problem === undefined ? [] : [`<p id="problem" role="alert">${escapeHtml(words.problems[problem])}</p>`]),
    `<input type="hidden" name="token" value="${escapeHtml(token)}">`,
    label('email', words.email),
    `<input id="${of('email')}" name="email" type="email" autocomplete="username" maxlength="254" required value="${escapeHtml(email)}"${isFixed ? ' readonly' : ''}${wrong(['email'])}>`,
    label('password', words.password),
    `<input id="${of('password')}" name="password" type="password" autocomplete="${isNew ? 'new' : 'current'}-password" maxlength="1024" required${isNew ? hinted('password-hint') : ''}${wrong(['password', 'missing_password', 'credentials', 'second_factor', 'email_taken'])}>`,
    ...(isNew ? [`<p id="${of('password-hint')}">${escapeHtml(words.passwordHint)}</p>`] : codeField(words, of, wrong)),
    `<button name="action" value="${action}">${escapeHtml(isNew ? words.createButton : words.signInButton)}</button>`,
    '</form>',
  ];
}

function codeField(
  words: InvitePageWords,
  of: (name: string) => string,
  wrong: (names: readonly FormProblem[]) => string,
): string[] {
  return [
    `<label for="${of('code')}">${escapeHtml(words.code)}</label>`,
    `<input id="${of('code')}" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="50" aria-describedby="${of('code-hint')}"${wrong(['code', 'wrong_second_factor'])}>`,
    `<p id="${of('code-hint')}">${escapeHtml(words.codeHint)}</p>`,
  ];
}

/** The page of somebody who is a member now. @param frontendUrl where the front end is, if there is one */
export function joinedPage(
  locale: Locale,
  joined: { readonly workspace: string; readonly isNew: boolean; readonly mustConfirm: boolean },
  frontendUrl: string | undefined,
): Page {
  const words = invitePageWords[locale];
  const head = joined.isNew ? words.joined(harmlessName(joined.workspace)) : words.member;
  const link =
    frontendUrl === undefined
      ? []
      : [`<p class="hint"><a href="${escapeHtml(frontendUrl)}">${escapeHtml(words.open)}</a></p>`];
  return smallPage({
    locale,
    title: words.title,
    parts: [...said(head, [words.signInNow, ...(joined.mustConfirm ? [words.confirm] : [])]), ...link],
  });
}
