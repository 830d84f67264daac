import { statusPageLimits } from '@parallax/api-contract';
import type { Letter } from '../../../platform/mail/letter.ts';
import { proofName } from './proof.ts';

/** What is told of a page that has lost its domain. */
export type LostNotice = {
  readonly page: string;
  readonly domain: string;
  readonly proof: string;
  readonly url: string;
};

/** The mail to the owner of the workspace. */
export function lostLetter(locale: Letter['locale'], notice: LostNotice): Letter {
  return locale === 'ru' ? inRussian(notice) : inEnglish(notice);
}

const { missingDays } = statusPageLimits;

function inEnglish({ page, domain, proof, url }: LostNotice): Letter {
  return {
    locale: 'en',
    subject: `Status page ${page} is no longer served at ${domain}`,
    paragraphs: [
      `The TXT record ${proofName(domain)} no longer proves that ${domain} belongs to the status page "${page}". It has been gone for ${missingDays} days, so the page is no longer served there. Its address at Parallax still works.`,
      `To serve it there again, set the TXT record ${proofName(domain)} to ${proof} and verify the domain.`,
    ],
    action: { label: 'Open Parallax', url },
    notes: ['You receive this mail because you own the workspace of the status page.'],
  };
}

function inRussian({ page, domain, proof, url }: LostNotice): Letter {
  return {
    locale: 'ru',
    subject: `Страница статуса ${page} больше не показывается на ${domain}`,
    paragraphs: [
      `TXT-запись ${proofName(domain)} больше не подтверждает, что ${domain} принадлежит странице статуса «${page}». Её нет уже ${missingDays} дней, поэтому страница там больше не показывается. Её адрес в Parallax продолжает работать.`,
      `Чтобы снова показывать её там, укажите в TXT-записи ${proofName(domain)} значение ${proof} и подтвердите домен.`,
    ],
    action: { label: 'Открыть Parallax', url },
    notes: ['Вы получили это письмо, потому что владеете рабочим пространством этой страницы.'],
  };
}
