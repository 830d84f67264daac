import { emailSchema } from '@parallax/api-contract';
import { pageLocale } from '../../../platform/http/page.ts';
import type { PreparedRequest } from '../../../platform/http/prepared/before-routes.ts';
import type { PreparedAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import { formChallenge, leadTo, pageAnswer, retryAfter } from '../access/answers.ts';
import { setCookie } from '../access/cookie.ts';
import type { PageAccess } from '../access/page-access.ts';
import type { Checked, PageGuard } from '../access/page-guard.ts';
import { askedPage, deadLinkPage, linkPage, unlockForm } from '../access/pages.ts';
import { passwordOf } from '../access/shown-password.ts';
import type { UnlockProblem } from '../access/words.ts';
import type { Locale } from '../view/locale.ts';
import type { DocumentTable } from './document-table.ts';
import type { CachedPage, PageCache } from './page-cache.ts';

/** Links that are mailed to readers; they need a database. */
export type UnlockLinks = {
  /** Notes that somebody asks for a link. The same work whatever the address is. @returns how long to wait where too many were asked for; 0: it is noted */
  readonly ask: (asked: {
    readonly page: CachedPage;
    readonly access: PageAccess;
    readonly mail: string;
    readonly locale: Locale;
    /** The address of the client. */
    readonly address: string;
  }) => Promise<number>;
  /** Takes a link, which works once. @returns whether it is one of the page as it is now */
  readonly take: (page: CachedPage, token: string) => Promise<boolean>;
};

type Parts = {
  readonly cache: PageCache;
  readonly table: DocumentTable;
  readonly guard: PageGuard;
  readonly now: () => number;
  readonly links: UnlockLinks | undefined;
  /** Whether the installation is reached by https; undefined: as the URL of a page says. */
  readonly isSecure: boolean | undefined;
};

/** Where the forms of a page are. */
type UnlockPath = { readonly base: string; readonly slug: string; readonly token: string | undefined };
/** With what its readers see before the paths of the page: nothing at a domain of its own. */
type UnlockPlace = UnlockPath & { readonly shownBase: string };

function unlockPlace({ path, isMapped }: PreparedRequest): UnlockPlace | undefined {
  const found = unlockPath(path);
  return found === undefined ? undefined : { ...found, shownBase: isMapped === true ? '' : found.base };
}

/** Reads `/status/{slug}/unlock` and `/status/{slug}/unlock/{token}`. */
export function unlockPath(path: string): UnlockPath | undefined {
  const found = /^(\/status\/([a-z0-9][a-z0-9-]{1,62}))\/unlock(?:\/([A-Za-z0-9_]{1,100}))?$/.exec(path);
  return found === null ? undefined : { base: found[1] ?? '', slug: found[2] ?? '', token: found[3] };
}

type Private = { readonly page: CachedPage; readonly access: PageAccess };

/** What a form says, read as a browser sends it. */
type SentForm = { readonly password: string | undefined; readonly mail: string; readonly to: string };

/** The forms by which readers of a private page are let in. Opening one changes nothing. */
export class PageUnlocking {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The form, or the page behind a link. @returns undefined: there is nothing at this path */
  async show(request: PreparedRequest): Promise<PreparedAnswer | undefined> {
    const place = unlockPlace(request);
    if (place === undefined) return undefined;
    const locale = pageLocale(request.acceptLanguage);
    // Nothing is looked for before its button is pressed.
    if (place.token !== undefined) return pageAnswer(200, linkPage(locale));
    const found = await this.#find(place);
    if (found === undefined || !('access' in found)) return found;
    if (this.#parts.guard.judge(found.access, request.client) === 'open') return leadTo(shownPath(place));
    return this.#form(200, found.access, { place, locale, to: '' });
  }

  /** What is answered to a form. @returns undefined: there is nothing at this path */
  async send(request: PreparedRequest, body: Buffer | undefined): Promise<PreparedAnswer | undefined> {
    const place = unlockPlace(request);
    if (place === undefined) return undefined;
    const found = await this.#find(place);
    if (found === undefined || !('access' in found)) return found;
    const locale = pageLocale(request.acceptLanguage);
    const address = request.client?.address() ?? 'unknown';
    const { password, mail, to } = formOf(body);
    const shown = { place, locale, to: this.#toOf(place, to) };
    // Nobody else's page shall try passwords, or have mails sent, from this browser's address.
    if (isFromElsewhere(request)) return this.#form(403, found.access, shown, 'elsewhere');
    if (place.token !== undefined) return this.#takeLink(found, place, place.token, locale);
    if (mail !== '') return this.#askLink(found, shown, mail, address);
    if (password === undefined || found.access.passwordHash === null)
      return this.#form(401, found.access, shown, password === undefined ? undefined : 'wrong');
    return this.#afterPassword(found, shown, await this.#parts.guard.compare(found.access, password, address));
  }

  #afterPassword(
    { access, page }: Private,
    shown: { readonly place: UnlockPlace; readonly locale: Locale; readonly to: string },
    checked: Checked,
  ): PreparedAnswer {
    switch (checked.kind) {
      case 'open':
        return this.#letIn({ access, page }, shown.place, shown.to);
      case 'refused':
        return this.#form(401, access, shown, 'wrong');
      case 'limited':
        return this.#form(429, access, shown, 'limited', retryAfter(checked.waitMs));
      case 'busy':
        return this.#form(503, access, shown, 'busy', retryAfter(2_000));
    }
  }

  /** @returns what is answered where there is no private page */
  async #find(place: UnlockPlace): Promise<Private | PreparedAnswer | undefined> {
    let known = await this.#parts.cache.get(place.slug);
    // A domain leads to the page whatever its slug was a moment ago.
    if (known.kind === 'moved' && place.shownBase === '') known = await this.#parts.cache.get(known.slug);
    if (known.kind === 'missing') return undefined;
    if (known.kind === 'moved') return leadTo(`${place.base.slice(0, -place.slug.length)}${known.slug}`);
    const { access } = known.page.found;
    return access === null ? leadTo(shownPath(place)) : { page: known.page, access };
  }

  async #takeLink(found: Private, place: UnlockPlace, token: string, locale: Locale): Promise<PreparedAnswer> {
    const isTaken = (await this.#parts.links?.take(found.page, token)) === true;
    return isTaken ? this.#letIn(found, place, '') : pageAnswer(404, deadLinkPage(locale));
  }

  async #askLink(
    found: Private,
    shown: { readonly place: UnlockPlace; readonly locale: Locale; readonly to: string },
    text: string,
    address: string,
  ): Promise<PreparedAnswer> {
    const { links } = this.#parts;
    const mail = emailSchema.safeParse(text);
    if (!mail.success) return this.#form(422, found.access, shown, 'mail');
    if (links === undefined) return this.#form(503, found.access, shown, 'busy', retryAfter(5_000));
    const { locale } = shown;
    const waitMs = await links.ask({ ...found, mail: mail.data, locale, address });
    return waitMs > 0
      ? this.#form(429, found.access, shown, 'limited', retryAfter(waitMs))
      : pageAnswer(200, askedPage(locale));
  }

  #letIn({ access, page }: Private, place: UnlockPlace, to: string): PreparedAnswer {
    const { isSecure: isInstallationSecure = page.view.url.startsWith('https:') } = this.#parts;
    // A domain is reached by https alone.
    const isSecure = place.shownBase === '' || isInstallationSecure;
    const cookie = setCookie(access, { path: shownPath(place), isSecure, nowMs: this.#parts.now() });
    return leadTo(shownPath(place, to), { 'set-cookie': cookie });
  }

  #form(
    status: number,
    access: PageAccess,
    { place, locale, to }: { readonly place: UnlockPlace; readonly locale: Locale; readonly to: string },
    problem?: UnlockProblem,
    more: Readonly<Record<string, string>> = {},
  ): PreparedAnswer {
    const action = shownPath(place, '/unlock');
    const challenge = status === 401 ? { 'www-authenticate': formChallenge(action) } : {};
    return pageAnswer(status, unlockForm(locale, access, { action, to, problem }), { ...challenge, ...more });
  }

  /** What is opened afterwards: a document of this page and nothing else. */
  #toOf({ base }: UnlockPath, to: string): string {
    // Without the slash it could be the end of another page's slug.
    const match = to.startsWith('/') ? this.#parts.table.match(`${base}${to}`) : undefined;
    return match?.document.isForPeople === true ? to : '';
  }
}

/** A path of the page as its readers see it. */
function shownPath({ shownBase }: UnlockPlace, below = ''): string {
  return `${shownBase}${below}` || '/';
}

function formOf(body: Buffer | undefined): SentForm {
  const fields = new URLSearchParams(body?.toString('utf8') ?? '');
  return {
    password: passwordOf(fields.get('password') ?? ''),
    mail: (fields.get('mail') ?? '').slice(0, 1_000),
    to: (fields.get('to') ?? '').slice(0, 200),
  };
}

/** Browsers say where a form was sent from (Fetch Metadata); other programs do not, and have nothing of anybody's to misuse. */
function isFromElsewhere({ client }: PreparedRequest): boolean {
  const site = client?.header('sec-fetch-site');
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}
