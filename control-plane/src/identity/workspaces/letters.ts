import type { Letter } from '../../platform/mail/letter.ts';

export type Locale = 'en' | 'ru';

/** How a user is named to others, who never see their address: design of the public profile. */
export function shownName(user: { readonly id: number; readonly display_name: string | null }, locale: Locale): string {
  const given = user.display_name === null ? undefined : harmlessName(user.display_name);
  return given ?? (locale === 'ru' ? `Пользователь ${user.id}` : `User ${user.id}`);
}

/**
 * A name that somebody chose, for a mail to somebody who never asked for it: undefined when mail programs could make a link of it, or when it
 * could change the direction of the text around it. Else an invitation would carry anybody's advertisement under our sender.
 */
export function harmlessName(name: string): string | undefined {
  const plain = name.replaceAll(/\s+/gu, ' ').trim();
  if (plain === '' || /[\p{Cc}\p{Cf}]/u.test(plain)) return undefined;
  if (/:\/\/|www\.|@|[\p{L}\p{N}-]\s*\.\s*\p{L}{2,}/iu.test(plain)) return undefined;
  return plain.length > 60 ? `${plain.slice(0, 59).trimEnd()}…` : plain;
}

/** Brings an invitation to an address, with the link that only this mail carries. */
export function inviteLetter(
  locale: Locale,
  invite: {
    readonly inviter: { readonly id: number; readonly display_name: string | null };
    readonly workspace: string;
    readonly role: 'editor' | 'viewer';
    readonly url: string;
    readonly days: number;
  },
): Letter {
  const who = shownName(invite.inviter, locale);
  const name = harmlessName(invite.workspace);
  if (locale === 'ru') {
    const where = name === undefined ? 'в рабочее пространство' : `в рабочее пространство «${name}»`;
    const may = invite.role === 'editor' ? 'просматривать и изменять мониторы' : 'просматривать мониторы';
    return {
      locale,
      subject: `Приглашение ${where}`,
      paragraphs: [`${who} приглашает вас ${where} в Parallax.`, `Вы сможете ${may}.`],
      action: { label: 'Принять приглашение', url: invite.url },
      notes: [
        `Ссылка действует ${invite.days} дней, один раз и только для этого адреса. Если у вас ещё нет учётной записи, её можно создать по этой же ссылке.`,
        'Если вы не ждали этого письма, ничего делать не нужно.',
      ],
    };
  }
  const where = name === undefined ? 'a workspace' : `the workspace “${name}”`;
  const may = invite.role === 'editor' ? 'see and change its monitors' : 'see its monitors';
  return {
    locale,
    subject: `Invitation to ${where}`,
    paragraphs: [`${who} invites you to ${where} on Parallax.`, `You will be able to ${may}.`],
    action: { label: 'Accept the invitation', url: invite.url },
    notes: [
      `The link works for ${invite.days} days, once, and for this address only. If you have no account yet, you can create one with it.`,
      'If you did not expect this mail, there is nothing to do.',
    ],
  };
}

/** Tells the new owner of a workspace. */
export function transferLetter(
  locale: Locale,
  transfer: {
    readonly formerOwner: { readonly id: number; readonly display_name: string | null };
    readonly workspace: string;
    readonly belowMinimum: number;
    readonly minimumIntervalSeconds: number;
  },
): Letter {
  const who = shownName(transfer.formerOwner, locale);
  const name = harmlessName(transfer.workspace);
  const { belowMinimum, minimumIntervalSeconds: seconds } = transfer;
  if (locale === 'ru') {
    const what = name === undefined ? 'рабочее пространство' : `рабочее пространство «${name}»`;
    return {
      locale,
      subject: `Вам передано ${what}`,
      paragraphs: [`${who} передаёт вам ${what} в Parallax. Теперь вы его владелец.`],
      ...(belowMinimum === 0
        ? {}
        : {
            notes: [
              `Мониторов с интервалом короче ${seconds} с, минимального для вашего тарифа: ${belowMinimum}. Они продолжают работать, но при следующем изменении интервал придётся увеличить.`,
            ],
          }),
    };
  }
  const what = name === undefined ? 'a workspace' : `the workspace “${name}”`;
  return {
    locale,
    subject: `You now own ${what}`,
    paragraphs: [`${who} handed ${what} on Parallax over to you. You are its owner now.`],
    ...(belowMinimum === 0
      ? {}
      : {
          notes: [
            `Monitors with an interval below ${seconds} s, the shortest of your plan: ${belowMinimum}. They go on as they are; the next change of one must give it a longer interval.`,
          ],
        }),
  };
}
