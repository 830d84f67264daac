import type { Locale } from '../../messages/index.ts';

/** What the page of a link says, in one language. */
export type LinkWords = {
  readonly title: string;
  readonly since: (when: string) => string;
  readonly over: (when: string) => string;
  readonly acknowledged: string;
  readonly snoozed: (when: string) => string;
  readonly acknowledge: string;
  readonly acknowledgeHint: string;
  readonly snoozeHint: string;
  readonly hour: string;
  readonly fourHours: string;
  readonly until: (when: string) => string;
  readonly close: string;
  readonly invalid: readonly [head: string, text: string];
};

export const linkWords: Readonly<Record<Locale, LinkWords>> = {
  en: {
    title: 'Alert',
    since: (when) => `Since ${when}.`,
    over: (when) => `It is over since ${when}. There is nothing to do.`,
    acknowledged:
      'Somebody has acknowledged it. Reminders and further steps are off; you will be told when it is over.',
    snoozed: (when) => `You will hear nothing of it until ${when}, unless it is over before.`,
    acknowledge: 'Acknowledge',
    acknowledgeHint: 'You take care of it: nobody else is woken, and reminders stop.',
    snoozeHint: 'Or let only this address rest for a while:',
    hour: 'For 1 hour',
    fourHours: 'For 4 hours',
    until: (when) => `Until ${when}`,
    close: 'You can close this page.',
    invalid: ['This link does not work any more', 'What it was about is over for more than a week, or was deleted.'],
  },
  ru: {
    title: 'Оповещение',
    since: (when) => `С ${when}.`,
    over: (when) => `Закончилось ${when}. Ничего делать не нужно.`,
    acknowledged: 'Это уже взято в работу. Напоминаний и следующих шагов не будет; об окончании вы узнаете.',
    snoozed: (when) => `До ${when} вы ничего об этом не услышите, если только это не закончится раньше.`,
    acknowledge: 'Взять в работу',
    acknowledgeHint: 'Этим займётесь вы: больше никого не будят, напоминания прекращаются.',
    snoozeHint: 'Или отложить только для этого адреса:',
    hour: 'На 1 час',
    fourHours: 'На 4 часа',
    until: (when) => `До ${when}`,
    close: 'Эту страницу можно закрыть.',
    invalid: ['Ссылка больше не действует', 'То, о чём она, закончилось больше недели назад или удалено.'],
  },
};
