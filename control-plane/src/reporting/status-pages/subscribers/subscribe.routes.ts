import { createHash } from 'node:crypto';
import { Problem, subscribeRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { outboxSubject } from '../../../platform/bus/subjects.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { handle, PageAnswer, PreparedResult } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { isMapped } from '../../../platform/http/mapped-hosts.ts';
import { pageLocale } from '../../../platform/http/page.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { leadTo } from '../access/answers.ts';
import { contextOf } from '../html/context.ts';
import type { PageContext } from '../html/context.ts';
import { policyOf } from '../html/style.ts';
import { renderSaid, renderSubscribe } from '../html/subscribe.ts';
import type { PageView } from '../view/page-view.ts';
import type { FoundPage } from '../serving/index.ts';
import { ask } from './ask.gateway.ts';
import { subscribeFormOf } from './form.ts';
import type { SubscribeForm } from './form.ts';
import { noSubscriptionPage } from './no-subscription.ts';
import { mostSubscribers } from './plan.gateway.ts';
import { mayAsk } from './room.ts';
import { subscriberKey } from './subscriber-key.gateway.ts';
import { componentsAmong, lockCounts } from './subscribers.queries.ts';
import { targetOf } from './target.ts';
import type { SubscriberTarget } from './target.ts';

/** How a published page is found by its slug, what it tells, and who may read it. */
export type PublishedPages = {
  readonly find: (context: Context, slug: string) => Promise<FoundPage | null>;
  readonly viewOf: (context: Context, slug: string) => Promise<PageView | null>;
  readonly mayRead: (context: Context, found: FoundPage, request: RequestFacts) => Promise<boolean>;
};

/** The form of a page: its answer tells nobody who has subscribed. */
export function subscribeRoutes(context: Context, pages: PublishedPages): readonly Route[] {
  return [
    handle(subscribeRoute, async ({ params, bytes, request }) => {
      const form = subscribeFormOf(bytes?.bytes);
      const found = await pages.find(context, params.slug);
      const view = found === null ? null : await pages.viewOf(context, found.slug);
      if (found === null || view === null || view.subscribe.length === 0) return missing(request);
      // Opened anew, it shows the form that lets its readers in.
      if (!(await pages.mayRead(context, found, request))) return new PreparedResult(leadTo('subscribe'));
      const locale = form.locale !== undefined && view.locales.includes(form.locale) ? form.locale : view.locale;
      const page = contextOf(view, {
        locale,
        nowMs: context.now(),
        id: '',
        isAtDomain: isMapped(request.reply.request.raw),
      });
      void request.reply.header('content-security-policy', policyOf(view, 'form'));
      const said = page.words.subscription;
      if (!(await isWithinRate(context, request))) return new PageAnswer(429, again(page, form, said.tooMany));
      const target = form.kind === undefined ? undefined : targetOf(form.kind, form.target);
      if (target === undefined || !view.subscribe.includes(target.kind)) {
        return new PageAnswer(422, again(page, form, said.wrongTarget));
      }
      await keep(context, found, view, { ...target, componentIds: form.componentIds, locale });
      return renderSaid(page, said.asked);
    }),
  ];
}

function missing(request: RequestFacts): PageAnswer {
  const { html, policy } = noSubscriptionPage(pageLocale(request.header('accept-language')));
  void request.reply.header('content-security-policy', policy);
  return new PageAnswer(404, html);
}

function again(page: PageContext, form: SubscribeForm, problem: string): string {
  return renderSubscribe(page, form, problem) ?? renderSaid(page, page.words.subscription.invalid);
}

async function isWithinRate(context: Context, request: RequestFacts): Promise<boolean> {
  const key = `page-subscribe:${clientNetwork(request.remoteAddress)}`;
  const state = await countOnce(context.database.api, key, context.limits.rate('page_subscribe'));
  if (state.used <= state.quota) return true;
  try {
    applyRates(request.reply, [state], 'subscriptions', 'from this address');
  } catch (error) {
    if (!(error instanceof Problem) || error.retryAfterSeconds === undefined) throw error;
    void request.reply.header('retry-after', String(Math.ceil(error.retryAfterSeconds)));
  }
  return false;
}

/** What is above a limit is not told: the answer would say who is subscribed, or how many are. */
async function keep(
  context: Context,
  { pageId, workspaceId }: FoundPage,
  view: PageView,
  asked: SubscriberTarget & { readonly componentIds: readonly string[]; readonly locale: PageView['locale'] },
): Promise<void> {
  const digest = createHash('sha256').update(`${asked.kind} ${asked.target.toLowerCase()}`).digest('base64url');
  const rate = context.limits.rate('page_subscribe_to_target');
  const { used, quota } = await countOnce(context.database.api, `page-subscribe-to:${digest}`, rate);
  if (used > quota) return;
  const key = await subscriberKey(context);
  const most = await mostSubscribers(context, workspaceId);
  const scope: Scope = { userId: null, workspaceIds: [workspaceId] };
  await inScope(context.database.api, scope, async (tx) => {
    if (!mayAsk(await lockCounts(scope, tx, pageId), most)) return;
    const componentIds = await componentsAmong(scope, tx, pageId, asked.componentIds);
    await ask(
      context,
      scope,
      tx,
      key,
      { pageId, workspaceId, url: view.url, name: view.name },
      { ...asked, componentIds },
    );
  });
  context.bus.hint(outboxSubject, {});
}
