import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { z } from 'zod';
import type { Page } from '../../platform/http/page.ts';
import { askedPage, deadLinkPage, linkPage, unlockForm } from './access/pages.ts';
import { contextOf } from './html/context.ts';
import { policyOf } from './html/style.ts';
import { renderSaid, renderSubscription } from './html/subscribe.ts';
import { answerWith, inBrowser, isTooWide, look, violations } from './html/testing/in-tab.ts';
import { sample } from './html/testing/rendered.ts';
import { madeMs } from './html/testing/samples.ts';
import { noSubscriptionPage } from './subscribers/no-subscription.ts';
import type { Locale } from './view/locale.ts';

/** `PARALLAX_SAMPLES=folder` keeps pictures, to be looked at. */
const pictures = process.env['PARALLAX_SAMPLES'];

/** The forms that let readers of a private page in. */
function unlockPages(locale: Locale): Readonly<Record<string, Page>> {
  const form = { action: '/status/shop/unlock', to: '' };
  const both = { passwordHash: 'x', mailDomains: ['shop.example'] };
  return {
    'unlock, password': unlockForm(locale, { ...both, mailDomains: [] }, form),
    'unlock, password that is wrong': unlockForm(locale, { ...both, mailDomains: [] }, { ...form, problem: 'wrong' }),
    'unlock, mail': unlockForm(locale, { ...both, passwordHash: null }, form),
    'unlock, both': unlockForm(locale, both, form),
    'unlock, both, an address that is none': unlockForm(locale, both, { ...form, problem: 'mail' }),
    'unlock, networks alone': unlockForm(locale, { passwordHash: null, mailDomains: [] }, form),
    'unlock, asked': askedPage(locale),
    'unlock, link': linkPage(locale),
    'unlock, dead link': deadLinkPage(locale),
  };
}

/** The pages behind the links of messages to subscribers. */
function subscriptionPages(locale: Locale): Readonly<Record<string, Page>> {
  const view = { ...sample('outage'), locales: ['en', 'ru'] as const };
  const context = contextOf(view, { locale, nowMs: madeMs, id: '', isAtDomain: false });
  const said = context.words.subscription;
  const [first] = view.sections.flatMap((section) => section.components);
  const shown = (state: 'pending' | 'active' | 'over', text = said[state]): Page => ({
    html: renderSubscription(context, 'plsp_x', {
      state,
      target: 'reader.with.a.long.name@department.shop.example',
      componentIds: first === undefined ? [] : [first.id],
      said: text,
    }),
    policy: policyOf(view, 'form'),
  });
  return {
    'subscription, pending': shown('pending'),
    'subscription, active': shown('active'),
    'subscription, saved': shown('active', said.saved),
    'subscription, over': shown('over'),
    'subscription, full': shown('pending', said.full),
    'subscription, asked': { html: renderSaid(context, said.asked), policy: policyOf(view, 'form') },
    'subscription, none': noSubscriptionPage(locale),
  };
}

t.test('Forms of readers in a browser', (t) =>
  inBrowser(t, {
    'Nothing stands in the way of anybody (WCAG 2.2 AA), and nothing goes beyond the side of the window': async (
      t,
      tab,
      show,
    ) => {
      for (const locale of ['en', 'ru'] as const) {
        for (const [name, { html, policy }] of Object.entries({
          ...unlockPages(locale),
          ...subscriptionPages(locale),
        })) {
          await look(tab, 1280, 'light');
          await show(answerWith(html, policy));
          for (const [width, scheme] of [
            [320, 'light'],
            [1280, 'dark'],
            [390, 'dark'],
          ] as const) {
            await look(tab, width, scheme);
            const what = `${name}, ${locale}, ${width}, ${scheme}`;
            t.notOk(await isTooWide(tab, width), what);
            t.same(await violations(tab), [], what);
            if (pictures === undefined) continue;
            const { data } = await tab.send('Page.captureScreenshot', { format: 'png' });
            const file = path.join(pictures, `${what.replaceAll(/[, ]+/g, '-')}.png`);
            writeFileSync(file, Buffer.from(z.string().parse(data), 'base64'));
          }
        }
      }
    },
  }),
);
