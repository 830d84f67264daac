import { actOnSubscriptionRoute, subscriptionPageRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { randomKeyHash } from '../../../platform/crypto/random-key.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { AlternativeAnswer, handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { isMapped } from '../../../platform/http/mapped-hosts.ts';
import { pageLocale, said as saidOn, smallPage } from '../../../platform/http/page.ts';
import type { Page } from '../../../platform/http/page.ts';
import { escapeHtml } from '../../../platform/mail/letter.ts';
import { contextOf } from '../html/context.ts';
import { policyOf } from '../html/style.ts';
import { renderSubscription } from '../html/subscribe.ts';
import type { ShownSubscription } from '../html/subscribe.ts';
import { wordsOf } from '../html/words/languages.ts';
import type { Said, SubscriptionWords } from '../html/words/words.ts';
import type { Locale } from '../view/locale.ts';
import { subscribeFormOf } from './form.ts';
import type { SubscribeForm } from './form.ts';
import { noSubscriptionPage } from './no-subscription.ts';
import { mostSubscribers } from './plan.gateway.ts';
import { mayConfirm } from './room.ts';
import type { PublishedPages } from './subscribe.routes.ts';
import {
  activate,
  changeSubscription,
  componentsAmong,
  lockCounts,
  lockSubscriber,
  subscriberOfToken,
  unsubscribe,
} from './subscribers.queries.ts';
import type { LinkedSubscriber } from './subscribers.queries.ts';
import { shownTarget } from './target.ts';
import { sealedFor, subscriberToken } from './token.ts';

type Action = 'confirm' | 'save' | 'unsubscribe';
type Asking = { readonly action: Action; readonly form: SubscribeForm };

/** The link of each message: by it a subscriber confirms, changes and ends what they are told, without an account. */
export function subscriptionRoutes(context: Context, pages: PublishedPages): readonly Route[] {
  return [
    handle(subscriptionPageRoute, ({ params, request }) => answer(context, pages, params.token, request, null)),
    handle(actOnSubscriptionRoute, ({ params, query, bytes, request }) =>
      answer(context, pages, params.token, request, { action: query.action, form: subscribeFormOf(bytes?.bytes) }),
    ),
  ];
}

async function answer(
  context: Context,
  pages: PublishedPages,
  token: string,
  request: RequestFacts,
  asking: Asking | null,
): Promise<string | AlternativeAnswer<string>> {
  const outcome = subscriberToken.isForm(token) ? await act(context, token, asking) : null;
  if (outcome === null) {
    const { html, policy } = noSubscriptionPage(pageLocale(request.header('accept-language')));
    void request.reply.header('content-security-policy', policy);
    return new AlternativeAnswer(html);
  }
  const { subscriber, isFull } = outcome;
  const view = await pages.viewOf(context, subscriber.slug);
  const locale = langOf(request) ?? subscriber.locale;
  const shownIn = view === null || view.locales.includes(locale) ? locale : view.locale;
  const words = wordsOf(shownIn).subscription;
  const shown: ShownSubscription = {
    state: stateOf(subscriber),
    target: shownTarget({
      kind: subscriber.kind,
      target: context.sealer.open(subscriber.target_sealed, sealedFor.target).toString(),
    }),
    componentIds: subscriber.component_ids,
    said: isFull ? words.full : saidOf(words, subscriber, asking?.action ?? null),
  };
  if (view === null) return sent(request, pageWithoutView(shownIn, words, shown));
  void request.reply.header('content-security-policy', policyOf(view, 'form'));
  return renderSubscription(
    contextOf(view, { locale: shownIn, nowMs: context.now(), id: '', isAtDomain: isMapped(request.reply.request.raw) }),
    token,
    shown,
  );
}

function sent(request: RequestFacts, { html, policy }: Page): string {
  void request.reply.header('content-security-policy', policy);
  return html;
}

/** While a page is not published, its subscribers can leave it all the same. */
function pageWithoutView(
  locale: Locale,
  words: SubscriptionWords,
  { state, target, said: [head, text] }: ShownSubscription,
): Page {
  const form =
    state === 'over'
      ? []
      : [`<form method="post" action="?action=unsubscribe"><button>${escapeHtml(words.unsubscribe)}</button></form>`];
  return smallPage({ locale, title: head, parts: [...saidOn(head, [`${target}: ${text}`]), ...form] });
}

function stateOf({ state }: LinkedSubscriber): ShownSubscription['state'] {
  return state === 'pending' || state === 'active' ? state : 'over';
}

function saidOf(words: SubscriptionWords, subscriber: LinkedSubscriber, action: Action | null): Said {
  const state = stateOf(subscriber);
  if (state !== 'active') return words[state];
  return action === null ? words.active : words.saved;
}

/** The language that the address of a page names. */
function langOf(request: RequestFacts): Locale | undefined {
  const lang = new URL(request.reply.request.url, 'http://localhost').searchParams.get('lang');
  return lang === 'en' || lang === 'ru' ? lang : undefined;
}

type Outcome = { readonly subscriber: LinkedSubscriber; readonly isFull: boolean };

/** Does what is asked, and reads how the subscription stands then. Null: there is none. */
async function act(context: Context, token: string, asking: Asking | null): Promise<Outcome | null> {
  const found = await subscriberOfToken(context.database.api, randomKeyHash(token));
  if (found === null) return null;
  const scope: Scope = { userId: null, workspaceIds: [found.workspace_id] };
  const most = asking?.action === 'confirm' ? await mostSubscribers(context, found.workspace_id) : undefined;
  return inScope(context.database.api, scope, async (tx) => {
    const before = await lockSubscriber(scope, tx, found.id);
    if (before === null) return null;
    let isFull = false;
    switch (asking?.action) {
      case 'confirm':
        isFull = before.state !== 'active' && !mayConfirm(await lockCounts(scope, tx, found.page_id), most);
        if (!isFull) await activate(scope, tx, found.id);
        break;
      case 'unsubscribe':
        await unsubscribe(scope, tx, found.id);
        break;
      case 'save': {
        const { componentIds, locale = before.locale } = asking.form;
        const known = await componentsAmong(scope, tx, found.page_id, componentIds);
        await changeSubscription(scope, tx, found.id, { componentIds: known, locale });
        break;
      }
      case undefined:
    }
    const after = await lockSubscriber(scope, tx, found.id);
    return after === null ? null : { subscriber: after, isFull };
  });
}
