import { Problem } from '@parallax/api-contract';
import type { FastifyReply } from 'fastify';
import { rateHeaders, refusedBy } from './rate-headers.ts';
import type { RateState } from './rate-limits.ts';

/**
 * Tells a client how much is left, and refuses a request that is above a rate: whoever limits anything does it by this, so that each 429 has
 * `RateLimit`, `RateLimit-Policy` and `Retry-After`.
 * @param what is counted, such as "requests" or "failed logins of this account"
 * @param whose such as "from this address"
 * @throws Problem `rate_limited`
 */
export function applyRates(reply: FastifyReply, states: readonly RateState[], what: string, whose: string): void {
  void reply.headers(rateHeaders(states));
  const refusing = refusedBy(states);
  if (refusing === undefined) return;
  const seconds = Math.ceil(refusing.resetSeconds);
  const detail = `more than ${refusing.quota} ${what} per ${refusing.name} ${whose}; try again in ${seconds} s`;
  throw new Problem('rate_limited', detail, { retryAfterSeconds: seconds });
}
