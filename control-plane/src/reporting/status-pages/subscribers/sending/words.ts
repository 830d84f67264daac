import type { Locale } from '../../view/locale.ts';
import type { MaintenanceFacts } from '../news/news-facts.ts';

type NoticeWords = {
  readonly events: Readonly<Record<MaintenanceFacts['event'], string>>;
  readonly open: string;
  readonly why: (page: string) => string;
  readonly manage: string;
  readonly confirmTitle: (page: string) => string;
  readonly confirm: (page: string) => string;
  readonly confirmLink: string;
  /** When maintenance was planned before it was moved. */
  readonly before: (span: string) => string;
};

/** What messages to subscribers say beside the words of the page. */
export const noticeWords: Readonly<Record<Locale, NoticeWords>> = {
  en: {
    events: {
      scheduled: 'Maintenance is scheduled',
      moved: 'Maintenance is moved',
      cancelled: 'Maintenance is cancelled',
      reminder: 'Maintenance begins soon',
      in_progress: 'Maintenance has begun',
      completed: 'Maintenance is completed',
    },
    open: 'Open the status page',
    why: (page) => `You receive this because you have subscribed to the status page “${page}”.`,
    manage: 'Change or end the subscription',
    confirmTitle: (page) => `Messages of the status page “${page}”`,
    confirm: (page) =>
      `Somebody wants to have incidents and maintenance of the status page “${page}” told here. Whoever wants that too opens the page and presses its button.`,
    confirmLink: 'Confirm the subscription',
    before: (span) => `It was planned for ${span}.`,
  },
  ru: {
    events: {
      scheduled: 'Запланированы работы',
      moved: 'Работы перенесены',
      cancelled: 'Работы отменены',
      reminder: 'Скоро начнутся работы',
      in_progress: 'Работы начались',
      completed: 'Работы завершены',
    },
    open: 'Открыть страницу статуса',
    why: (page) => `Вы получили это сообщение, потому что подписаны на страницу статуса «${page}».`,
    manage: 'Изменить подписку или отказаться от неё',
    confirmTitle: (page) => `Сообщения страницы статуса «${page}»`,
    confirm: (page) =>
      `Кто-то хочет, чтобы сюда приходили сообщения об инцидентах и работах со страницы статуса «${page}». Если вы согласны, откройте страницу и нажмите кнопку.`,
    confirmLink: 'Подтвердить подписку',
    before: (span) => `Раньше они планировались на ${span}.`,
  },
};
