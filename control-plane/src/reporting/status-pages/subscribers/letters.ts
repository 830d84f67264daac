import type { Letter } from '../../../platform/mail/letter.ts';
import type { Locale } from '../view/locale.ts';

/** The name of a page may be anything, and goes to whoever is named in its form: it is no place for an advertisement. */
const longestName = 60;

export type LetterFacts = { readonly page: string; readonly url: string };

const nameIn = (name: string): string => {
  const characters = Array.from(name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim());
  return characters.length <= longestName ? characters.join('') : `${characters.slice(0, longestName - 1).join('')}…`;
};

/** Asks whether somebody wants to be told. */
export function confirmationLetter(locale: Locale, { page, url }: LetterFacts): Letter {
  const name = nameIn(page);
  if (locale === 'ru') {
    return {
      locale,
      subject: `Подтвердите подписку: ${name}`,
      paragraphs: [
        `Этот адрес указали, чтобы получать сообщения об инцидентах и плановых работах со страницы статуса «${name}».`,
        'Чтобы получать их, откройте страницу и нажмите кнопку. Если вы этого не просили, ничего делать не нужно: больше ничего не придёт.',
      ],
      action: { label: 'Подтвердить подписку', url },
      notes: ['Ссылка действует 7 дней.'],
    };
  }
  return {
    locale,
    subject: `Confirm your subscription to ${name}`,
    paragraphs: [
      `Somebody has entered this address to be told about incidents and maintenance by the status page “${name}”.`,
      'If it was you, open the page and press its button. If it was not, there is nothing to do: you will hear no more of it.',
    ],
    action: { label: 'Confirm the subscription', url },
    notes: ['The link is good for 7 days.'],
  };
}

/** Answers somebody who subscribes and has done so already: the form itself tells nobody. */
export function alreadyLetter(locale: Locale, { page, url }: LetterFacts): Letter {
  const name = nameIn(page);
  if (locale === 'ru') {
    return {
      locale,
      subject: `Вы уже подписаны: ${name}`,
      paragraphs: [
        `Этот адрес указали, чтобы подписаться на страницу статуса «${name}». Вы уже на неё подписаны, и ничего не изменилось.`,
      ],
      action: { label: 'Изменить подписку', url },
    };
  }
  return {
    locale,
    subject: `You are subscribed to ${name} already`,
    paragraphs: [
      `Somebody has entered this address to subscribe to the status page “${name}”. You are subscribed to it already, and nothing has changed.`,
    ],
    action: { label: 'Change the subscription', url },
  };
}
