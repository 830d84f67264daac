import {
  actOnMailTargetRoute,
  confirmMailTargetRoute,
  invalidInput,
  mailTargetPageRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { AlternativeAnswer, handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { pageLocale } from '../../../platform/http/page.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { requireChannel } from '../configs/require-channel.ts';
import { confirmTargetLetter } from '../letters.ts';
import { targetKey } from '../sending/target-key.ts';
import { readTester } from '../trials/queries.ts';
import { mailTargetUrl } from './links.ts';
import { mailLinkPage, noMailLinkPage } from './page.ts';
import { askConsent, hasUnsubscribed, useMailLink } from './queries.ts';
import { confirmToken, unsubscribeToken } from './token.ts';

/** How readers of mail addresses agree to alerts, and take it back. */
export function mailTargetRoutes(context: Context): readonly Route[] {
  return [
    handle(confirmMailTargetRoute, async ({ body, caller, request }) => {
      const channel = requireChannel('email', '/target');
      const read = channel.target.parse(body.target, {});
      if (!read.ok) throw invalidInput('body', '/target', 'invalid_target', read.problem);
      const address = read.target;
      const { limits, database } = context;
      for (const [key, rate, whose] of [
        [`consent-mails:${caller.userId}`, limits.rate('channel_confirmation'), 'of this account'],
        [
          `consent-mails-to:${targetKey(channel, caller.userId, address)}`,
          limits.rate('channel_confirmation_to_target'),
          'to this address',
        ],
      ] as const) {
        applyRates(request.reply, [await countOnce(database.api, key, rate)], 'mails that ask', whose);
      }
      const scope = scopeOf(caller);
      const isAsked = await inScope(database.api, scope, async (tx) => {
        const user = await readTester(scope, tx);
        // The own address needs no asking, unless its reader has ended alerts to it: then this is the only way back.
        const isOwn = user.email_verified && user.email === address;
        if (isOwn && !(await hasUnsubscribed(scope, tx, address))) return false;
        const token = confirmToken.make();
        if (!(await askConsent(scope, tx, address, randomKeyHash(token)))) return false;
        const url = mailTargetUrl(context.publicUrl, token);
        // An address that nobody has confirmed may be that of somebody whom the reader trusts.
        const from = user.email_verified && user.email !== null ? user.email : `user ${caller.userId}`;
        const letter = confirmTargetLetter(user.locale, { from, url });
        await enqueueMail(tx, context.sealer, { to: address, ...renderLetter(letter) });
        return true;
      });
      return { status: isAsked ? 'asked' : 'confirmed' } as const;
    }),

    handle(mailTargetPageRoute, ({ params, request }) => answerLink(context, params.token, request, false)),
    handle(actOnMailTargetRoute, ({ params, request }) => answerLink(context, params.token, request, true)),
  ];
}

async function answerLink(
  context: Context,
  token: string,
  request: RequestFacts,
  act: boolean,
): Promise<string | AlternativeAnswer<string>> {
  const isForm = confirmToken.isForm(token) || unsubscribeToken.isForm(token);
  const found = isForm ? await useMailLink(context.database.api, randomKeyHash(token), act) : undefined;
  const link =
    found?.purpose == null || found.target === null || found.locale === null
      ? undefined
      : { purpose: found.purpose, locale: found.locale, address: found.target };
  const page =
    link === undefined ? noMailLinkPage(pageLocale(request.header('accept-language'))) : mailLinkPage(link, act);
  void request.reply.header('content-security-policy', page.policy);
  return link === undefined ? new AlternativeAnswer(page.html) : page.html;
}
