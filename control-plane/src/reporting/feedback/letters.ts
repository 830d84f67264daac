import type { FeedbackKind } from '@parallax/api-contract';
import type { Letter } from '../../platform/mail/letter.ts';

type Locale = Letter['locale'];

const mostShown = 20;
const longestExcerpt = 200;

const kindNames: Readonly<Record<Locale, Readonly<Record<FeedbackKind, string>>>> = {
  en: { bug: 'Bug', idea: 'Idea', question: 'Question', praise: 'Praise' },
  ru: { bug: 'Ошибка', idea: 'Идея', question: 'Вопрос', praise: 'Похвала' },
};

/** Tells an administrator what came. */
export function receivedLetter(
  locale: Locale,
  items: readonly { readonly id: number; readonly kind: FeedbackKind; readonly message: string }[],
  url: string,
): Letter {
  const count = items.length;
  const shown = items
    .slice(0, mostShown)
    .map(({ id, kind, message }) => `${kindNames[locale][kind]} ${id}: ${excerpt(message)}`);
  const more = count - shown.length;
  if (locale === 'ru') {
    return {
      locale,
      subject: count === 1 ? 'Новый отзыв' : `Новые отзывы: ${count}`,
      paragraphs: [...shown, ...(more > 0 ? [`И ещё отзывов: ${more}.`] : [])],
      action: { label: 'Открыть Parallax', url },
      notes: ['Вы получили это письмо как администратор установки. Такие письма приходят не чаще раза в час.'],
    };
  }
  return {
    locale,
    subject: count === 1 ? 'New feedback' : `New feedback: ${count} items`,
    paragraphs: [...shown, ...(more > 0 ? [`And ${more} more.`] : [])],
    action: { label: 'Open Parallax', url },
    notes: ['You receive this mail because you administer the installation. It comes once an hour at most.'],
  };
}

/** Brings a reply to the author of an item. */
export function repliedLetter(
  locale: Locale,
  { message, reply, url }: { readonly message: string; readonly reply: string; readonly url: string },
): Letter {
  const lines = reply.split(/\s*\n\s*/u);
  if (locale === 'ru') {
    return {
      locale,
      subject: 'Ответ на ваш отзыв',
      paragraphs: lines,
      action: { label: 'Открыть Parallax', url },
      notes: [`Ваш отзыв: «${excerpt(message)}»`, 'Ответил администратор этой установки Parallax.'],
    };
  }
  return {
    locale,
    subject: 'A reply to your feedback',
    paragraphs: lines,
    action: { label: 'Open Parallax', url },
    notes: [`Your feedback: “${excerpt(message)}”`, 'An administrator of this installation of Parallax replied.'],
  };
}

/** The beginning of a text on one line, without characters that change the direction of what stands around it. */
export function excerpt(text: string): string {
  const line = text
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
  const characters = Array.from(line);
  return characters.length > longestExcerpt ? `${characters.slice(0, longestExcerpt - 1).join('')}…` : line;
}
