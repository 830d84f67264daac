type Words = {
  readonly title: string;
  readonly text: (address: string) => string;
  readonly button: string;
  readonly done: readonly [head: string, text: (address: string) => string];
};

type PageWords = Readonly<Record<'confirm' | 'unsubscribe', Words>> & {
  readonly invalid: readonly [head: string, text: string];
};

/** What the page of a link says, by what it is for. */
export const pageWords: Readonly<Record<'en' | 'ru', PageWords>> = {
  en: {
    confirm: {
      title: 'Alerts and reports to this address',
      text: (address) => `May Parallax send alerts and reports about monitored services to ${address}?`,
      button: 'Yes, send them here',
      done: [
        'Alerts are sent here',
        (address) => `${address} is confirmed. Every mail has a link by which you can end them.`,
      ],
    },
    unsubscribe: {
      title: 'No more alerts',
      text: (address) => `No more alerts are sent to ${address} when you press the button.`,
      button: 'End alerts to this address',
      done: [
        'No more alerts are sent here',
        (address) => `${address} gets no more alerts from this account. You can close this page.`,
      ],
    },
    invalid: [
      'This link does not work any more',
      'It was used for something newer, is older than 7 days, or the account is gone. Ask whoever sent it for a new one.',
    ],
  },
  ru: {
    confirm: {
      title: 'Оповещения и отчёты на этот адрес',
      text: (address) => `Можно ли Parallax присылать на ${address} оповещения и отчёты о наблюдаемых службах?`,
      button: 'Да, присылать сюда',
      done: [
        'Оповещения будут приходить сюда',
        (address) => `Адрес ${address} подтверждён. В каждом письме есть ссылка, чтобы отказаться.`,
      ],
    },
    unsubscribe: {
      title: 'Отказ от оповещений',
      text: (address) => `После нажатия кнопки оповещения на ${address} приходить не будут.`,
      button: 'Больше не присылать',
      done: [
        'Оповещения больше не приходят',
        (address) => `На ${address} от этой учётной записи ничего не придёт. Эту страницу можно закрыть.`,
      ],
    },
    invalid: [
      'Ссылка больше не действует',
      'Её заменила новая, ей больше 7 дней, или учётной записи больше нет. Попросите новую у того, кто её прислал.',
    ],
  },
};
