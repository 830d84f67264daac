import { said, smallPage } from '../../../platform/http/page.ts';
import type { Page } from '../../../platform/http/page.ts';
import { wordsOf } from '../html/words/languages.ts';
import type { Locale } from '../view/locale.ts';

/** The page of a link that does not work, and of a form that belongs to no page. */
export function noSubscriptionPage(locale: Locale): Page {
  const [head, text] = wordsOf(locale).subscription.invalid;
  return smallPage({ locale, title: head, parts: said(head, [text]) });
}
