type Facts = { readonly report: string; readonly address: string };
type Said = readonly [head: string, text: (facts: Facts) => string, button: string];

type PageWords = {
  readonly subscribed: Said;
  readonly unsubscribed: Said;
  readonly resumed: Said;
  readonly invalid: readonly [head: string, text: string];
};

/** What the page of a link says, by how the reader stands. */
export const pageWords: Readonly<Record<'en' | 'ru', PageWords>> = {
  en: {
    subscribed: [
      'No more of this report',
      ({ report, address }) => `The report “${report}” is not sent to ${address} any more when you press the button.`,
      'End this report',
    ],
    unsubscribed: [
      'This report is not sent here',
      ({ report, address }) =>
        `The report “${report}” is not sent to ${address}. Other reports and alerts are not touched.`,
      'Send it again',
    ],
    resumed: [
      'This report is sent here again',
      ({ report, address }) => `The report “${report}” is sent to ${address} from its next time on.`,
      'End this report',
    ],
    invalid: ['This link does not work any more', 'The report was deleted, or this address was taken out of it.'],
  },
  ru: {
    subscribed: [
      'Отказ от этого отчёта',
      ({ report, address }) => `Отчёт «${report}» больше не будет приходить на ${address} после нажатия кнопки.`,
      'Больше не присылать отчёт',
    ],
    unsubscribed: [
      'Этот отчёт сюда не приходит',
      ({ report, address }) =>
        `Отчёт «${report}» не отправляется на ${address}. Других отчётов и оповещений это не касается.`,
      'Присылать снова',
    ],
    resumed: [
      'Отчёт снова будет приходить',
      ({ report, address }) => `Отчёт «${report}» будет приходить на ${address}, начиная со следующего.`,
      'Больше не присылать отчёт',
    ],
    invalid: ['Ссылка больше не действует', 'Отчёт удалён, или этот адрес из него убрали.'],
  },
};
