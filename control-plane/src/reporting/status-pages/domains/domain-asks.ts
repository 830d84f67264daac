import { askPublicDomainRoute, domainOf } from '@parallax/api-contract';
import type { PreparedAnswers, PreparedRequest } from '../../../platform/http/prepared/before-routes.ts';
import { prepareAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { PreparedAnswer } from '../../../platform/http/prepared/prepared-answer.ts';
import type { ServedDomains } from './served-domains.ts';

const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/**
 * Answers whether a page is served under a domain before any route is asked: a proxy waits for it in the middle of a handshake, and strangers make it
 * ask for any name. Everything but a plain yes is told by the route.
 */
export class DomainAsks implements PreparedAnswers {
  readonly #domains: ServedDomains;

  constructor(domains: ServedDomains) {
    this.#domains = domains;
  }

  covers(path: string): boolean {
    return path === askPublicDomainRoute.path;
  }

  owns(): boolean {
    return false;
  }

  find({ query }: PreparedRequest): PreparedAnswer | undefined {
    const asked = new URLSearchParams(query).getAll('domain');
    const domain = domainOf(asked.length === 1 ? (asked[0] ?? '') : '');
    if (domain === undefined || !this.#domains.isPublished(domain)) return undefined;
    return prepareAnswer(200, headers, JSON.stringify({ domain }));
  }

  async fetch(): Promise<PreparedAnswer> {
    throw new Error('what is not at hand is answered by the route');
  }
}
