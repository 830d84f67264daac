import { actOnReportLinkRoute, reportLinkPageRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { AlternativeAnswer, handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { pageLocale } from '../../../platform/http/page.ts';
import { noReportLinkPage, reportLinkPage } from './page.ts';
import type { ReportLink } from './page.ts';
import { useReportLink } from './queries.ts';
import { reportToken } from './token.ts';

/** How readers of a report end it, and have it sent again. */
export function reportLinkRoutes(context: Context): readonly Route[] {
  return [
    handle(reportLinkPageRoute, ({ params, request }) => answerLink(context, params.token, request, null)),
    handle(actOnReportLinkRoute, ({ params, query, request }) =>
      answerLink(context, params.token, request, query.action),
    ),
  ];
}

async function answerLink(
  context: Context,
  token: string,
  request: RequestFacts,
  action: 'unsubscribe' | 'subscribe' | null,
): Promise<string | AlternativeAnswer<string>> {
  const link = await findLink(context, token, action);
  const page =
    link === undefined
      ? noReportLinkPage(pageLocale(request.header('accept-language')))
      : reportLinkPage(link, action !== null);
  void request.reply.header('content-security-policy', page.policy);
  return link === undefined ? new AlternativeAnswer(page.html) : page.html;
}

async function findLink(
  context: Context,
  token: string,
  action: 'unsubscribe' | 'subscribe' | null,
): Promise<ReportLink | undefined> {
  if (!reportToken.isForm(token)) return undefined;
  const found = await useReportLink(context.database.api, randomKeyHash(token), action);
  const { report, address, locale, is_unsubscribed: isUnsubscribed } = found;
  if (report === null || address === null || locale === null || isUnsubscribed === null) return undefined;
  return { report, address, locale, isUnsubscribed };
}
