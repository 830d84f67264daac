import { randomKeyKind } from '../../../platform/crypto/random-key.ts';

/** Of links in mails of reports: 190 random bits. */
export const reportToken = randomKeyKind('plru_');

/** What the token of a recipient is sealed for. */
export const tokenSealedFor = 'link of a report';

/** Where the link of a mail leads: a page whose button acts, and which takes the one-click POST of RFC 8058. */
export function reportLinkUrl(publicUrl: string, token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/api/v1/public/reports/${encodeURIComponent(token)}`;
}
