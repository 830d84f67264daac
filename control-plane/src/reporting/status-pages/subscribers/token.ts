import { randomKeyKind } from '../../../platform/crypto/random-key.ts';

/** The tokens of links in messages to subscribers: 190 random bits. */
export const subscriberToken = randomKeyKind('plsp_');

/** What is sealed of a subscriber, each for its own purpose. */
export const sealedFor = {
  target: 'target of a page subscriber',
  secret: 'secret of a page subscriber',
  token: 'link of a page subscriber',
} as const;

/** Where the link of a message leads: a page whose buttons act, and which takes the one-click POST of RFC 8058. */
export function subscriptionUrl(pageUrl: string, token: string): string {
  return `${pageUrl}/subscription/${encodeURIComponent(token)}`;
}
