import { statusPageLimits, subscriberKinds } from '@parallax/api-contract';
import type { EnteredSubscription } from '../html/subscribe.ts';
import { locales } from '../view/locale.ts';
import type { Locale } from '../view/locale.ts';

/** What a form says; the language undefined where it names none. */
export type SubscribeForm = EnteredSubscription & { readonly locale: Locale | undefined };

const longestTarget = 2_000;
const componentForm = /^[a-z0-9]{12}$/;

/** Reads a form as a browser sends it. */
export function subscribeFormOf(body: Buffer | undefined): SubscribeForm {
  const fields = new URLSearchParams(body?.toString('utf8') ?? '');
  const componentIds = new Set(fields.getAll('component').filter((id) => componentForm.test(id)));
  const lang = fields.get('lang');
  const kind = fields.get('kind') ?? 'email';
  return {
    kind: subscriberKinds.find((each) => each === kind),
    // A character that no column takes is none of an address either.
    target: (fields.get('target') ?? '').slice(0, longestTarget).replaceAll('\0', ' '),
    componentIds: [...componentIds].slice(0, statusPageLimits.items),
    locale: locales.find((locale) => locale === lang),
  };
}
