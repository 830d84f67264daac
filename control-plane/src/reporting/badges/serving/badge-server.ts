import type { BadgeKind } from '@parallax/api-contract';
import type { PreparedAnswers, PreparedRequest } from '../../../platform/http/prepared/before-routes.ts';
import { prepareAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PreparedAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import { privateHeaders } from '../../status-pages/index.ts';
import type { PageGuard } from '../../status-pages/index.ts';
import { badgeJson, cacheSeconds } from '../picture/as-json.ts';
import { badgeSvg } from '../picture/as-svg.ts';
import { errorText, textOf } from '../picture/badge-text.ts';
import type { BadgeText } from '../picture/badge-text.ts';
import { badgePrefix, readAddress } from './badge-address.ts';
import type { BadgeAddress, BadgeForm } from './badge-address.ts';
import type { BadgeCache, CachedBadge } from './badge-cache.ts';

/** What is read of a badge. */
export type AskedBadge = { readonly key: string; readonly kind: BadgeKind; readonly hours: number };

/** An address that may name a badge. */
type Named = BadgeAddress & { readonly asked: AskedBadge; readonly place: string };

/** Badges as documents, from memory where they are there. */
export class BadgeServer implements PreparedAnswers {
  readonly #cache: BadgeCache<AskedBadge>;
  readonly #now: () => number;
  readonly #guard: Pick<PageGuard, 'judge' | 'check'>;

  /** @param guard lets readers of private status pages in */
  constructor(cache: BadgeCache<AskedBadge>, now: () => number, guard: Pick<PageGuard, 'judge' | 'check'>) {
    this.#cache = cache;
    this.#now = now;
    this.#guard = guard;
  }

  covers(path: string): boolean {
    return path.startsWith(badgePrefix);
  }

  owns(path: string): boolean {
    return this.covers(path);
  }

  /** A badge that was shown lately is no attempt at its key, however old it is. */
  isKnown({ path, query }: PreparedRequest): boolean {
    const named = nameOf(readAddress(path, query));
    return 'place' in named && this.#cache.has(named.place);
  }

  find({ path, query, client }: PreparedRequest): PreparedAnswer | undefined {
    const named = nameOf(readAddress(path, query));
    if (!('place' in named)) return named;
    const known = this.#cache.peek(named.place);
    if (known === undefined) return undefined;
    const judgement = this.#guard.judge(known?.page?.access ?? null, client);
    return judgement === 'check' ? undefined : this.#answer(named, judgement === 'open' ? known : null);
  }

  /** @throws when the badge can neither be read nor is it in memory */
  async fetch({ path, query, client }: PreparedRequest): Promise<PreparedAnswer> {
    const named = nameOf(readAddress(path, query));
    if (!('place' in named)) return named;
    const badge = await this.#cache.get(named.place, named.asked);
    const checked = await this.#guard.check(badge?.page?.access ?? null, client);
    return this.#answer(named, checked.kind === 'open' ? badge : null);
  }

  #answer(named: Named, badge: CachedBadge | null): PreparedAnswer {
    const { form, label, place } = named;
    if (badge === null) return notFound(named);
    const of = `${form} ${label ?? '\n'}`;
    const made = badge.documents.get(of);
    if (made !== undefined) return made;
    const isPrivate = badge.page?.access != null;
    const answer = answerOf(200, form, textOf(badge.facts, label, this.#now()), isPrivate);
    this.#cache.keep(place, badge, of, answer);
    return answer;
  }
}

/** The badge that an address names, or what is answered where it can name none. */
function nameOf(address: BadgeAddress): Named | PreparedAnswer {
  const { key, kind, form, hours, label } = address;
  if (key === undefined || kind === undefined) return notFound(address);
  // Hours change nothing of what is now.
  if (kind === 'status' || kind === 'certificate') {
    return { ...address, asked: { key, kind, hours: 0 }, place: `${key} ${kind}` };
  }
  if (hours === undefined) return answerOf(400, form, errorText(kind, 'invalid hours', label));
  return { ...address, asked: { key, kind, hours }, place: `${key} ${kind} ${hours}` };
}

function notFound({ form, kind, label }: BadgeAddress): PreparedAnswer {
  return answerOf(404, form, errorText(kind, 'not found', label));
}

const headers = {
  'cache-control': `public, max-age=${cacheSeconds}`,
  vary: 'Accept-Encoding',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const;

const types: Readonly<Record<BadgeForm, string>> = {
  svg: 'image/svg+xml; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** A picture that is opened by itself is a document: it may load nothing, run nothing, and has an origin of its own. */
const picturePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

function answerOf(status: number, form: BadgeForm, text: BadgeText, isPrivate = false): PreparedAnswer {
  const typed = { ...(isPrivate ? privateHeaders : headers), 'content-type': types[form] };
  return form === 'svg'
    ? prepareAnswer(status, { ...typed, 'content-security-policy': picturePolicy }, badgeSvg(text))
    : prepareAnswer(status, typed, badgeJson(text));
}
