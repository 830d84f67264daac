import type { Letter } from '../../../platform/mail/letter.ts';

/** What is told of a webhook that fails. */
export type FailingNotice = {
  readonly name: string;
  readonly origin: string;
  readonly workspace: string;
  readonly hours: number;
  readonly isOff: boolean;
  readonly url: string;
};

/** The mail about a webhook that has failed for long, or that was switched off by that. */
export function failingLetter(locale: Letter['locale'], notice: FailingNotice): Letter {
  return locale === 'ru' ? inRussian(notice) : inEnglish(notice);
}

function inEnglish({ name, origin, workspace, hours, isOff, url }: FailingNotice): Letter {
  return {
    locale: 'en',
    subject: isOff ? `Webhook ${name} is switched off` : `Webhook ${name} has failed for ${hours} hours`,
    paragraphs: [
      `The webhook "${name}" of the workspace "${workspace}" sends to ${origin}. No delivery has arrived there for ${hours} hours.`,
      isOff
        ? 'Parallax has switched it off. Events are kept as missed for 30 days: switch the webhook on and redeliver what it missed.'
        : 'Parallax keeps trying. After 120 hours without success it switches the webhook off.',
    ],
    action: { label: 'Open Parallax', url },
    notes: ['You receive this mail because you made the webhook or own its workspace.'],
  };
}

function inRussian({ name, origin, workspace, hours, isOff, url }: FailingNotice): Letter {
  return {
    locale: 'ru',
    subject: isOff ? `Вебхук ${name} выключен` : `Вебхук ${name} не работает уже ${hours} ч`,
    paragraphs: [
      `Вебхук «${name}» рабочего пространства «${workspace}» отправляет события на ${origin}. Уже ${hours} ч туда не удалось доставить ни одного события.`,
      isOff
        ? 'Parallax выключил его. Пропущенные события хранятся 30 дней: включите вебхук и отправьте их повторно.'
        : 'Parallax продолжает попытки. Через 120 часов без успеха он выключит вебхук.',
    ],
    action: { label: 'Открыть Parallax', url },
    notes: ['Вы получили это письмо, потому что создали вебхук или владеете его рабочим пространством.'],
  };
}
