import type { Locale } from '../view/locale.ts';

/** What went wrong with a form. */
export type UnlockProblem = 'wrong' | 'limited' | 'busy' | 'mail' | 'elsewhere';

type UnlockWords = {
  readonly title: string;
  readonly error: string;
  readonly password: string;
  readonly open: string;
  readonly mailHead: string;
  readonly mail: string;
  readonly mailHint: string;
  readonly send: string;
  /** Where neither a password nor a mail address helps. */
  readonly networks: string;
  readonly problems: Readonly<Record<UnlockProblem, string>>;
  readonly asked: readonly [head: string, text: string];
  readonly link: readonly [head: string, text: string];
  readonly dead: readonly [head: string, text: string];
  readonly letter: {
    readonly subject: string;
    readonly text: (page: string) => string;
    readonly note: string;
  };
};

/** What somebody is told who may not read a page yet, in the language that they ask for. */
export const unlockWords: Readonly<Record<Locale, UnlockWords>> = {
  en: {
    title: 'This status page is private',
    error: 'Error',
    password: 'Password',
    open: 'Open the page',
    mailHead: 'Open it by mail',
    mail: 'Your mail address',
    mailHint: 'Addresses of certain organisations are sent a link that opens the page.',
    send: 'Send a link',
    networks: 'It can be read from certain networks only.',
    problems: {
      wrong: 'This is not the password of the page.',
      limited: 'Too many wrong passwords came from here. Wait a moment and try again.',
      busy: 'Too many people are trying at present. Wait a moment and try again.',
      mail: 'This is not a mail address.',
      elsewhere: 'The form was sent from another page. Enter it here again.',
    },
    asked: [
      'Look into your mail',
      'If this address may read the page, a link is on its way to it. It works for 15 minutes.',
    ],
    link: ['Open the status page', 'The link works once.'],
    dead: [
      'This link does not work any more',
      'It was used, is older than 15 minutes, or who may read the page has been changed. Ask for another one on the page.',
    ],
    letter: {
      subject: 'A link to a status page',
      text: (page) => `Somebody, probably you, has asked for a link to the private status page at ${page}.`,
      note: 'The link works once, within 15 minutes. If you have not asked for it, there is nothing to do.',
    },
  },
  ru: {
    title: 'Эта страница статуса закрыта',
    error: 'Ошибка',
    password: 'Пароль',
    open: 'Открыть страницу',
    mailHead: 'Открыть по почте',
    mail: 'Ваш адрес почты',
    mailHint: 'На адреса некоторых организаций приходит ссылка, которая открывает страницу.',
    send: 'Прислать ссылку',
    networks: 'Её можно прочитать только из некоторых сетей.',
    problems: {
      wrong: 'Это не пароль этой страницы.',
      limited: 'Отсюда пришло слишком много неверных паролей. Подождите немного и попробуйте снова.',
      busy: 'Сейчас слишком много попыток. Подождите немного и попробуйте снова.',
      mail: 'Это не адрес почты.',
      elsewhere: 'Форма отправлена с другой страницы. Заполните её здесь.',
    },
    asked: ['Проверьте почту', 'Если этому адресу можно читать страницу, ссылка уже в пути. Она действует 15 минут.'],
    link: ['Открыть страницу статуса', 'Ссылка действует один раз.'],
    dead: [
      'Ссылка больше не действует',
      'Её уже использовали, ей больше 15 минут, или изменилось, кому можно читать страницу. Попросите новую на странице.',
    ],
    letter: {
      subject: 'Ссылка на страницу статуса',
      text: (page) => `Кто-то, скорее всего вы, попросил ссылку на закрытую страницу статуса ${page}.`,
      note: 'Ссылка действует один раз, в течение 15 минут. Если вы её не просили, ничего делать не нужно.',
    },
  },
};
