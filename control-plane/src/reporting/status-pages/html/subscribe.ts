import { subscriberKinds } from '@parallax/api-contract';
import type { SubscriberKind } from '@parallax/api-contract';
import { roomTitle } from '../../../response/channels/index.ts';
import { type PageContext, pathTo } from './context.ts';
import { framed, summaryOf } from './frame.ts';
import { type Html, html } from './markup.ts';
import { wordsOf } from './words/languages.ts';
import type { Said, SubscriptionWords } from './words/words.ts';

/** What was entered, to be shown again. */
export type EnteredSubscription = {
  readonly kind: SubscriberKind | undefined;
  readonly target: string;
  readonly componentIds: readonly string[];
};

const nothing: EnteredSubscription = { kind: undefined, target: '', componentIds: [] };
const path = '/subscribe';

/** The form by which anybody subscribes to a page. @returns null: the page cannot be subscribed to */
export function renderSubscribe(
  context: PageContext,
  entered: EnteredSubscription = nothing,
  problem?: string,
): string | null {
  const { view, words } = context;
  const kinds = subscriberKinds.filter((kind) => view.subscribe.includes(kind));
  if (kinds.length === 0) return null;
  const said = words.subscription;
  const title = said.title(view.name);
  const main = html`
    <h1>${title}</h1>
    ${problem !== undefined && html`<p class="an" id="problem" role="alert">${problem}</p>`}
    <form class="card fo" method="post" action="${pathTo(context, path)}">
      <input type="hidden" name="lang" value="${context.locale}">
      ${kinds.length > 1 && kindChoice(context, kinds, entered)}
      ${kinds.length === 1 && html`<input type="hidden" name="kind" value="${kinds[0]}">`}
      ${targetField(context, kinds, entered, problem !== undefined)}
      ${componentChoice(context, entered.componentIds)}
      <p class="q">${said.promise}</p>
      <button>${said.send}</button>
    </form>`;
  return framed(context, { title, summary: summaryOf(view, title), path, drawing: 'form', main });
}

function kindChoice({ words }: PageContext, kinds: readonly SubscriberKind[], entered: EnteredSubscription): Html {
  const chosen = entered.kind ?? kinds[0];
  return html`
    <fieldset>
      <legend>${words.subscription.kind}</legend>
      ${kinds.map(
        (kind) =>
          html`<label class="c"><input type="radio" name="kind" value="${kind}"${kind === chosen && html` checked`}><span>${nameOf(kind, words.subscription)}</span></label>`,
      )}
    </fieldset>`;
}

function nameOf(kind: SubscriberKind, { kinds, room }: SubscriptionWords): string {
  return kind === 'email' || kind === 'webhook' ? kinds[kind] : room(roomTitle(kind));
}

function targetField(
  { words }: PageContext,
  kinds: readonly SubscriberKind[],
  { target }: EnteredSubscription,
  isWrong: boolean,
): Html {
  const takesMail = kinds.includes('email');
  const form = takesMail && kinds.length === 1 ? 'email' : takesMail ? 'either' : 'url';
  const type = form === 'either' ? 'text' : form;
  return html`
    <p><label for="target">${words.subscription.target[form]}</label>
    <input id="target" name="target" type="${type}" maxlength="2000" required${form !== 'url' && html` autocomplete="email"`}${isWrong && html` aria-invalid="true" aria-describedby="problem"`} value="${target}"></p>`;
}

/** Nothing is chosen for all of it: what is added to the page later is told too. */
function componentChoice({ view, words }: PageContext, chosen: readonly string[]): Html | false {
  const components = view.sections.flatMap((section) => section.components);
  if (components.length < 2) return false;
  return html`
    <fieldset>
      <legend>${words.subscription.components}</legend>
      <p class="q">${words.subscription.all}</p>
      ${components.map(
        ({ id, name }) =>
          html`<label class="c"><input type="checkbox" name="component" value="${id}"${chosen.includes(id) && html` checked`}><span>${name}</span></label>`,
      )}
    </fieldset>`;
}

/** What follows the form: that a confirmation is on its way, or that it could not be taken. */
export function renderSaid(context: PageContext, [head, text]: Said): string {
  const main = html`<h1>${head}</h1><p class="me" role="status">${text}</p>`;
  return framed(context, {
    title: head,
    summary: summaryOf(context.view, head),
    path,
    isPrivate: true,
    drawing: 'form',
    main,
  });
}

/** A subscription as the page of its link shows it. */
export type ShownSubscription = {
  readonly state: 'pending' | 'active' | 'over';
  readonly target: string;
  readonly componentIds: readonly string[];
  /** What is said of it. */
  readonly said: Said;
};

/** The page of a link: its buttons confirm, change and end a subscription. @param token which stands in the address of the page already */
export function renderSubscription(context: PageContext, token: string, shown: ShownSubscription): string {
  const { words, view } = context;
  const { confirm, save, unsubscribe, again } = words.subscription;
  const [head, text] = shown.said;
  const own = `/subscription/${token}`;
  const action = (name: string): string =>
    `${context.base}${own}?action=${name}${view.locales.length > 1 ? `&lang=${context.locale}` : ''}`;
  const button = (name: string, label: string): Html =>
    html`<form method="post" action="${action(name)}"><button>${label}</button></form>`;
  const main = html`
    <h1>${head}</h1>
    <p class="me" role="status">${shown.target}: ${text}</p>
    ${shown.state === 'pending' && html`<div class="card fo">${button('confirm', confirm)}${button('unsubscribe', unsubscribe)}</div>`}
    ${shown.state === 'over' && html`<div class="card fo">${button('confirm', again)}</div>`}
    ${
      shown.state === 'active' &&
      html`
        <form class="card fo" method="post" action="${action('save')}">
          ${languageChoice(context)}
          ${componentChoice(context, shown.componentIds)}
          <button>${save}</button>
        </form>
        ${button('unsubscribe', unsubscribe)}`
    }`;
  return framed(context, {
    title: head,
    summary: summaryOf(view, head),
    path: own,
    isPrivate: true,
    drawing: 'form',
    main,
  });
}

/** The language of messages: that in which the page is read now, or another. */
function languageChoice({ view, words, locale }: PageContext): Html | false {
  if (view.locales.length < 2) return html`<input type="hidden" name="lang" value="${locale}">`;
  return html`
    <fieldset>
      <legend>${words.languages}</legend>
      ${view.locales.map(
        (each) =>
          html`<label class="c"><input type="radio" name="lang" value="${each}"${each === locale && html` checked`}><span lang="${each}">${wordsOf(each).name}</span></label>`,
      )}
    </fieldset>`;
}
