import {
  actOnMailTargetRoute,
  confirmMailTargetRoute,
  invalidInput,
  mailTargetPageRoute,
} from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { requireConfirmedAddress } from '../../../identity/unconfirmed/index.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import { AlternativeAnswer, handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { pageLocale } from '../../../platform/http/page.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { requireChannel } from '../configs/require-channel.ts';
import { askAgain, askLimits } from './gateway.ts';
import { mailLinkPage, noMailLinkPage } from './page.ts';
import { useMailLink } from './queries.ts';
import { confirmToken, unsubscribeToken } from './token.ts';

/** How readers of mail addresses agree to alerts, and take it back. */
export function mailTargetRoutes(context: Context): readonly Route[] {
  return [
    handle(confirmMailTargetRoute, async ({ body, caller, request }) => {
      const channel = requireChannel('email', '/target');
      const read = channel.target.parse(body.target, {});
      if (!read.ok) throw invalidInput('body', '/target', 'invalid_target', read.problem);
      const address = read.target;
      await requireConfirmedAddress(context, caller, 'mails that ask readers are sent');
      for (const { key, rate, whose } of askLimits(context, caller.userId, address)) {
        const state = await countOnce(context.database.api, key, rate);
        applyRates(request.reply, [state], 'mails that ask', whose);
      }
      const scope = scopeOf(caller);
      const isAsked = await inScope(context.database.api, scope, (tx) => askAgain(context, scope, tx, address));
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
