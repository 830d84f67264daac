import { sql } from '../../../platform/database/pools.ts';

/** By which a page is found: its slug, and the domain that is proven to be its own. */
export type PagePlace = { readonly slug: string; readonly domain: string | null };

/** Where readers of a page are led: to its own domain, where it has one. @param publicUrl of the installation */
export function pageAddress({ slug, domain }: PagePlace, publicUrl: string): string {
  return domain === null ? installationAddress(slug, publicUrl) : `https://${domain}`;
}

/** Where the installation itself shows a page. */
export function installationAddress(slug: string, publicUrl: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/status/${slug}`;
}

/** The verified domain of a page, `p`; null: it has none. */
export const verifiedDomain = sql.fragment`(select d.domain from status_page_domains d where d.page_id = p.id and d.state = 'verified')`;
