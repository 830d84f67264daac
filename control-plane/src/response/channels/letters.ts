import type { Letter } from '../../platform/mail/letter.ts';

type Locale = Letter['locale'];

/** To the owner of a configuration that was switched off by itself. */
export function configDisabledLetter(
  locale: Locale,
  facts: {
    readonly channel: string;
    readonly reason: 'refused_credentials' | 'failures_in_row';
    readonly error: string;
  },
): Letter {
  const { channel, reason, error } = facts;
  const why = {
    en: {
      refused_credentials: `${channel} refused the credentials of your configuration.`,
      failures_in_row: `Ten messages in a row could not be delivered by ${channel}.`,
    },
    ru: {
      refused_credentials: `${channel}: учётные данные вашей настройки отклонены.`,
      failures_in_row: `${channel}: десять сообщений подряд не удалось доставить.`,
    },
  }[locale][reason];
  return {
    en: {
      locale,
      subject: 'An alert channel was switched off',
      paragraphs: [why, 'No alerts are sent by it until you switch it on again.', `The last error: ${error}`],
      notes: ['Correct the configuration of the channel, try it by a test message, and activate it.'],
    },
    ru: {
      locale,
      subject: 'Канал оповещений отключён',
      paragraphs: [
        why,
        'Оповещения через него не отправляются, пока вы не включите его снова.',
        `Последняя ошибка: ${error}`,
      ],
      notes: ['Исправьте настройку канала, проверьте её тестовым сообщением и включите канал.'],
    },
  }[locale];
}

/** To the owner of a configuration of which one address does not take messages any more. */
export function targetDisabledLetter(
  locale: Locale,
  facts: { readonly channel: string; readonly target: string; readonly error: string },
): Letter {
  const { channel, target, error } = facts;
  return {
    en: {
      locale,
      subject: 'Alerts do not reach one of your targets',
      paragraphs: [
        `${channel} does not take messages to ${target} any more. No alerts are sent there until you say so.`,
        `The error: ${error}`,
      ],
      notes: ['Send a test message to it, or activate the channel again, when it can be reached.'],
    },
    ru: {
      locale,
      subject: 'Оповещения не доходят до одного из адресатов',
      paragraphs: [
        `${channel} больше не принимает сообщения для ${target}. Оповещения туда не отправляются, пока вы этого не разрешите.`,
        `Ошибка: ${error}`,
      ],
      notes: ['Когда адресат снова доступен, отправьте ему тестовое сообщение или включите канал заново.'],
    },
  }[locale];
}

/** To a mail address that somebody wants alerts to be sent to. Who asks is told by their own address, so that strangers can be told apart. */
export function confirmTargetLetter(locale: Locale, facts: { readonly from: string; readonly url: string }): Letter {
  return {
    en: {
      locale,
      subject: 'May alerts and reports be sent to this address?',
      paragraphs: [`${facts.from} wants Parallax to send alerts and reports about monitored services to this address.`],
      action: { label: 'See and confirm', url: facts.url },
      notes: ['The link is good for 7 days. If you do not want that, ignore this mail: nothing is sent to you.'],
    },
    ru: {
      locale,
      subject: 'Можно ли присылать сюда оповещения и отчёты?',
      paragraphs: [
        `${facts.from} хочет, чтобы Parallax присылал на этот адрес оповещения и отчёты о наблюдаемых службах.`,
      ],
      action: { label: 'Посмотреть и подтвердить', url: facts.url },
      notes: [
        'Ссылка действует 7 дней. Если вы этого не хотите, не обращайте внимания на письмо: вам ничего не пришлют.',
      ],
    },
  }[locale];
}
