import type { Letter } from '../../platform/mail/letter.ts';
import { listOfRevoked } from './revoked.ts';
import type { Revoked } from './revoked.ts';

type Locale = Letter['locale'];

/** Where something was asked for, so that its reader can tell whether it was themselves. */
const origin = (locale: Locale, address: string): string =>
  ({
    en: `This was asked for from the network address ${address}.`,
    ru: `Запрос пришёл с сетевого адреса ${address}.`,
  })[locale];

/** To whoever forgot their password; the link is good for half an hour. */
export function resetPasswordLetter(locale: Locale, url: string, address: string): Letter {
  return {
    en: {
      locale,
      subject: 'Choose a new password',
      paragraphs: ['Somebody, probably you, asked for a new password for your Parallax account.'],
      action: { label: 'Choose a new password', url },
      notes: [
        'The link is good for 30 minutes and for one use. All your sessions end when the password is changed.',
        `If it was not you, do nothing: your password stays as it is. ${origin(locale, address)}`,
      ],
    },
    ru: {
      locale,
      subject: 'Новый пароль',
      paragraphs: ['Кто-то, вероятно вы, запросил новый пароль для вашей учётной записи Parallax.'],
      action: { label: 'Задать новый пароль', url },
      notes: [
        'Ссылка действует 30 минут и только один раз. После смены пароля все ваши сеансы завершатся.',
        `Если это были не вы, ничего не делайте: пароль останется прежним. ${origin(locale, address)}`,
      ],
    },
  }[locale];
}

/** How a password was changed, and what else that did. */
export type PasswordChange = {
  /** From which network address. */
  readonly address: string;
  /** By a mailed link, which ends every session; else by its owner, whose own session goes on. */
  readonly isReset: boolean;
  /** What was taken from an account whose address nobody had confirmed before. */
  readonly revoked: Revoked;
  /** API keys and access tokens that are good still. */
  readonly keptKeys: number;
};

/** After the password was changed, by its owner or by a mailed link. */
export function passwordChangedLetter(locale: Locale, change: PasswordChange): Letter {
  const { address, isReset, keptKeys } = change;
  const revoked = listOfRevoked(change.revoked, locale);
  return {
    en: {
      locale,
      subject: 'Your password was changed',
      paragraphs: [
        `The password of your Parallax account was changed, and ${isReset ? 'all sessions' : 'your other sessions'} were ended.`,
        ...(revoked === ''
          ? []
          : [
              `The address of the account had never been confirmed, so somebody else may have made it. Revoked or removed as well: ${revoked}.`,
            ]),
      ],
      notes: [
        `If it was not you, ask for a new password on the sign-in page at once. ${origin(locale, address)}`,
        ...(keptKeys === 0 ? [] : ['API keys and access tokens stay valid until you revoke them.']),
      ],
    },
    ru: {
      locale,
      subject: 'Пароль изменён',
      paragraphs: [
        `Пароль вашей учётной записи Parallax изменён, ${isReset ? 'все' : 'остальные'} сеансы завершены.`,
        ...(revoked === ''
          ? []
          : [
              `Адрес учётной записи никто не подтверждал, поэтому создать её мог кто-то другой. Также отозвано или удалено: ${revoked}.`,
            ]),
      ],
      notes: [
        `Если это были не вы, сразу запросите новый пароль на странице входа. ${origin(locale, address)}`,
        ...(keptKeys === 0 ? [] : ['Ключи API и токены доступа действуют, пока вы их не отзовёте.']),
      ],
    },
  }[locale];
}

/** To a new account, or to one whose address is not confirmed; good for a day. */
export function verifyAddressLetter(locale: Locale, url: string): Letter {
  return {
    en: {
      locale,
      subject: 'Confirm your mail address',
      paragraphs: ['Confirm that this is your address, so that Parallax can send you alerts.'],
      action: { label: 'Confirm the address', url },
      notes: ['The link is good for a day. If you have no account with Parallax, ignore this mail.'],
    },
    ru: {
      locale,
      subject: 'Подтвердите адрес почты',
      paragraphs: ['Подтвердите, что это ваш адрес, чтобы Parallax мог присылать вам оповещения.'],
      action: { label: 'Подтвердить адрес', url },
      notes: ['Ссылка действует сутки. Если у вас нет учётной записи Parallax, не обращайте внимания на это письмо.'],
    },
  }[locale];
}

/** To the address that an account is to have from now on; good for a day. */
export function addressChangeLetter(locale: Locale, url: string): Letter {
  return {
    en: {
      locale,
      subject: 'Confirm your new mail address',
      paragraphs: ['This address was named as the new one of a Parallax account.'],
      action: { label: 'Use this address', url },
      notes: ['The link is good for a day. If it was not you, ignore this mail: nothing is changed.'],
    },
    ru: {
      locale,
      subject: 'Подтвердите новый адрес почты',
      paragraphs: ['Этот адрес указан как новый адрес учётной записи Parallax.'],
      action: { label: 'Использовать этот адрес', url },
      notes: ['Ссылка действует сутки. Если это были не вы, не обращайте внимания: ничего не изменится.'],
    },
  }[locale];
}

/** To the present address, when another one was named. */
export function addressChangeNotice(locale: Locale, newAddress: string, address: string): Letter {
  return {
    en: {
      locale,
      subject: 'Your mail address is about to be changed',
      paragraphs: [
        `Somebody who knows your password asked to change the address of your Parallax account to ${newAddress}. It changes when that address is confirmed.`,
      ],
      notes: [`If it was not you, change your password at once, which voids the change. ${origin(locale, address)}`],
    },
    ru: {
      locale,
      subject: 'Запрошена смена адреса почты',
      paragraphs: [
        `Кто-то, знающий ваш пароль, попросил сменить адрес вашей учётной записи Parallax на ${newAddress}. Он сменится, когда тот адрес подтвердят.`,
      ],
      notes: [`Если это были не вы, сразу смените пароль: это отменит смену адреса. ${origin(locale, address)}`],
    },
  }[locale];
}

/** To the former address, when the account has another one. */
export function addressChangedLetter(locale: Locale, newAddress: string): Letter {
  return {
    en: {
      locale,
      subject: 'Your mail address was changed',
      paragraphs: [`Your Parallax account now has the address ${newAddress}. Mails no longer come here.`],
      notes: ['If it was not you, turn to whoever runs this installation.'],
    },
    ru: {
      locale,
      subject: 'Адрес почты изменён',
      paragraphs: [`Теперь у вашей учётной записи Parallax адрес ${newAddress}. Сюда письма больше не приходят.`],
      notes: ['Если это были не вы, обратитесь к тем, кто обслуживает эту установку.'],
    },
  }[locale];
}

/** After an old refresh token was used again: somebody may have copied it. */
export function tokenReusedLetter(locale: Locale, address: string): Letter {
  return {
    en: {
      locale,
      subject: 'A session was ended for your safety',
      paragraphs: [
        'A refresh token of your Parallax account was used twice. That happens when somebody has copied it, so its session was ended.',
      ],
      notes: [
        `Sign in again. If you did not restore a backup of your browser or a script, change your password. It was used from the network address ${address}.`,
      ],
    },
    ru: {
      locale,
      subject: 'Сеанс завершён ради безопасности',
      paragraphs: [
        'Токен обновления вашей учётной записи Parallax использован дважды. Так бывает, когда его скопировали, поэтому сеанс завершён.',
      ],
      notes: [
        `Войдите снова. Если вы не восстанавливали браузер или сценарий из копии, смените пароль. Токен использован с сетевого адреса ${address}.`,
      ],
    },
  }[locale];
}

/** What lets somebody into an account and outlives the session that changed it. */
export type AccountChange = {
  readonly kind: 'api_key' | 'access_token' | 'identity_linked' | 'identity_unlinked';
  /** The name of the key or token, or of who keeps the identity. */
  readonly name: string;
};

/** The host of an issuer, as people know who keeps an identity. */
export function keeperOf(issuer: string): string {
  return URL.parse(issuer)?.host ?? issuer;
}

/** After a key, a token or a linked identity was made or removed: its owner alone can tell whether it was themselves. */
export function accountChangedLetter(locale: Locale, { kind, name }: AccountChange, address: string): Letter {
  const en = {
    api_key: ['A new API key', `The API key "${name}" was made for your Parallax account.`],
    access_token: ['A new access token', `The personal access token "${name}" was made for your Parallax account.`],
    identity_linked: [
      'A new way to sign in',
      `An identity of ${name} was linked to your Parallax account and lets in.`,
    ],
    identity_unlinked: [
      'A way to sign in was removed',
      `An identity of ${name} no longer opens your Parallax account.`,
    ],
  } as const;
  const ru = {
    api_key: ['Новый ключ API', `Для вашей учётной записи Parallax создан ключ API «${name}».`],
    access_token: ['Новый токен доступа', `Для вашей учётной записи Parallax создан личный токен доступа «${name}».`],
    identity_linked: ['Новый способ входа', `К вашей учётной записи Parallax привязан вход через ${name}.`],
    identity_unlinked: ['Способ входа удалён', `Вход через ${name} больше не открывает вашу учётную запись Parallax.`],
  } as const;
  const [subject, text] = { en, ru }[locale][kind];
  const advice = {
    en: 'If it was not you, change your password, end all sessions, and revoke the keys, tokens and identities that you do not know.',
    ru: 'Если это были не вы, смените пароль, завершите все сеансы и отзовите незнакомые ключи, токены и способы входа.',
  }[locale];
  return { locale, subject, paragraphs: [text], notes: [`${advice} ${origin(locale, address)}`] };
}

/** After so many wrong second factors that somebody else seems to have the first one. */
export function secondFactorTriedLetter(locale: Locale, tries: number, address: string): Letter {
  return {
    en: {
      locale,
      subject: 'Somebody tries to sign in to your account',
      paragraphs: [
        `Somebody showed the first factor of your Parallax account, such as its password, and then ${tries} wrong codes. Further tries have to wait longer and longer.`,
      ],
      notes: [
        `If it was not you, change your password at once. The last try came from the network address ${address}.`,
      ],
    },
    ru: {
      locale,
      subject: 'Кто-то пытается войти в вашу учётную запись',
      paragraphs: [
        `Кто-то прошёл первый шаг входа в вашу учётную запись Parallax, например ввёл пароль, а затем ввёл неверные коды: ${tries}. Дальнейшие попытки ждут всё дольше.`,
      ],
      notes: [`Если это были не вы, сразу смените пароль. Последняя попытка пришла с сетевого адреса ${address}.`],
    },
  }[locale];
}

/** After the operator took the second factor away, because its owner had lost it. */
export function secondFactorResetLetter(locale: Locale): Letter {
  return {
    en: {
      locale,
      subject: 'Your second factor was removed',
      paragraphs: [
        'Whoever runs this installation of Parallax removed the authenticator app, the recovery codes and the passkeys of your account. All its sessions were ended.',
      ],
      notes: [
        'Sign in with your first factor and set up a second one again.',
        'If you did not ask for this, turn to whoever runs this installation, and change your password.',
      ],
    },
    ru: {
      locale,
      subject: 'Второй фактор удалён',
      paragraphs: [
        'Те, кто обслуживает эту установку Parallax, удалили приложение-аутентификатор, коды восстановления и ключи доступа вашей учётной записи. Все её сеансы завершены.',
      ],
      notes: [
        'Войдите с первым фактором и настройте второй заново.',
        'Если вы об этом не просили, обратитесь к тем, кто обслуживает эту установку, и смените пароль.',
      ],
    },
  }[locale];
}

/** The last one. */
export function accountDeletedLetter(locale: Locale): Letter {
  return {
    en: {
      locale,
      subject: 'Your account was deleted',
      paragraphs: ['Your Parallax account, its workspaces and all that was measured in them were deleted.'],
      notes: [
        'What is large goes in the background within some minutes. Backups of the installation are kept as long as whoever runs it keeps them.',
      ],
    },
    ru: {
      locale,
      subject: 'Учётная запись удалена',
      paragraphs: ['Ваша учётная запись Parallax, её рабочие пространства и все измерения в них удалены.'],
      notes: [
        'Большие объёмы удаляются в фоне за несколько минут. Резервные копии хранятся столько, сколько решил тот, кто обслуживает установку.',
      ],
    },
  }[locale];
}
