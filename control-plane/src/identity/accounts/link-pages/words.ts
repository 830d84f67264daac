/** What a page says, in one language. */
export type LinkPageWords = {
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly done: readonly [head: string, text: string];
  readonly invalid: readonly [head: string, text: string];
  readonly taken: string;
  readonly busy: string;
  readonly unavailable: string;
  readonly refused: string;
};

export type LinkPage = 'reset-password' | 'confirm-email';

const common = {
  en: {
    busy: 'Too many tries. Wait a minute and try again.',
    unavailable: 'The service does not answer at present. Try again.',
    taken: 'Another account has this address meanwhile.',
  },
  ru: {
    busy: 'Слишком много попыток. Подождите минуту и повторите.',
    unavailable: 'Служба сейчас не отвечает. Повторите попытку.',
    taken: 'Этот адрес тем временем заняла другая учётная запись.',
  },
} as const;

/** Every word of the pages that mailed links open: nothing of the address that they were called with is ever shown. */
export const linkPageWords: Readonly<Record<LinkPage, Readonly<Record<'en' | 'ru', LinkPageWords>>>> = {
  'reset-password': {
    en: {
      ...common.en,
      title: 'Choose a new password',
      text: 'At least 8 characters, and not one that others use. All your sessions end.',
      button: 'Change the password',
      done: ['The password was changed', 'Sign in with the new one. You can close this page.'],
      invalid: [
        'This link is not valid any more',
        'It is older than 30 minutes or was used. Ask for a new one on the sign-in page.',
      ],
      refused: 'This password is too short or too common. Choose another one.',
    },
    ru: {
      ...common.ru,
      title: 'Новый пароль',
      text: 'Не меньше 8 символов и не из распространённых. Все ваши сеансы завершатся.',
      button: 'Сменить пароль',
      done: ['Пароль изменён', 'Войдите с новым паролем. Эту страницу можно закрыть.'],
      invalid: [
        'Ссылка больше не действует',
        'Ей больше 30 минут или она уже использована. Запросите новую на странице входа.',
      ],
      refused: 'Этот пароль слишком короткий или слишком распространённый. Выберите другой.',
    },
  },
  'confirm-email': {
    en: {
      ...common.en,
      title: 'Confirm your mail address',
      text: 'Press the button to confirm that you read the mail of this address.',
      button: 'Confirm the address',
      done: ['The address is confirmed', 'You can close this page.'],
      invalid: [
        'This link is not valid any more',
        'It is older than a day or was used. Ask for a new one in your profile.',
      ],
      refused: 'The address could not be confirmed.',
    },
    ru: {
      ...common.ru,
      title: 'Подтвердите адрес почты',
      text: 'Нажмите кнопку, чтобы подтвердить, что вы читаете почту этого адреса.',
      button: 'Подтвердить адрес',
      done: ['Адрес подтверждён', 'Эту страницу можно закрыть.'],
      invalid: ['Ссылка больше не действует', 'Ей больше суток или она уже использована. Запросите новую в профиле.'],
      refused: 'Адрес не удалось подтвердить.',
    },
  },
};
