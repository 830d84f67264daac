import { createHmac } from 'node:crypto';
import type { Sealer } from '../../../platform/crypto/seal.ts';

/** Who may read a private page: whoever satisfies one of the ways. */
export type PageAccess = {
  readonly pageId: number;
  /** Counts changes of what stands here; what was unlocked before one is locked again. */
  readonly version: number;
  /** Argon2id in PHC form; null: there is no password. */
  readonly passwordHash: string | null;
  /** Whoever reads mail at one of these is sent a link. */
  readonly mailDomains: readonly string[];
  /** CIDRs whose clients need nothing else. */
  readonly addresses: readonly string[];
  /** Signs the cookies of this page in this version, so that no other page and no earlier version has a cookie that is good here. In base64url. */
  readonly cookieKey: string;
};

/** What stands in the row of a page. */
export type StoredAccess = {
  readonly page_id: number;
  readonly access_version: number;
  readonly password_hash: string | null;
  readonly allowed_mail_domains: readonly string[];
  readonly allowed_addresses: readonly string[];
};

/** Who may read a page; null: everybody. */
export function accessOf(row: StoredAccess, sealer: Pick<Sealer, 'derive'>): PageAccess | null {
  const { password_hash: passwordHash, allowed_mail_domains: mailDomains, allowed_addresses: addresses } = row;
  if (passwordHash === null && mailDomains.length === 0 && addresses.length === 0) return null;
  const { page_id: pageId, access_version: version } = row;
  const cookieKey = createHmac('sha256', sealer.derive('cookies of status pages')).update(`${pageId} ${version}`);
  return { pageId, version, passwordHash, mailDomains, addresses, cookieKey: cookieKey.digest('base64url') };
}
