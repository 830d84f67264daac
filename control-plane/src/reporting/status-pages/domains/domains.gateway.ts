import { invalidInput, Problem } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { Context } from '../../../context.ts';
import { requireRole } from '../../../platform/http/caller.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { txtRecordsOf } from '../../../platform/dns/txt-records.gateway.ts';
import { changePage, noPage, readPage } from '../pages/pages.gateway.ts';
import type { Actor } from '../pages/pages.gateway.ts';
import { countVersion } from '../pages/pages.queries.ts';
import type { PageRow } from '../pages/row.ts';
import { markVerified } from './domains.queries.ts';
import { foundText, isProven, proofName } from './proof.ts';

/**
 * Refuses a host of the installation itself: its pages would hide the product.
 * @throws Problem `invalid_input`
 */
export function requireForeignHost({ publicUrl, frontendUrl }: Context, domain: string): void {
  const own = [publicUrl, frontendUrl].map((url) => (url === undefined ? undefined : URL.parse(url)?.hostname));
  if (own.includes(domain)) throw invalidInput('body', '/domain', 'own_host', 'is a host of this installation itself');
}

/**
 * Looks for the proof of a page's domain, and serves the page there when it stands.
 * @throws Problem `not_found`, `forbidden`, `conflict`, `domain_unproven`, `domain_taken`
 */
export async function verifyDomain(context: Context, actor: Actor, id: number): Promise<PageRow> {
  const page = await readPage(context, actor.caller, id);
  requireRole(actor.caller, page.workspace_id, 'editor');
  if (page.domain === null) throw new Problem('conflict', `status page ${id} has no domain`);
  const { domain, proof } = page.domain;
  const answer = await txtRecordsOf(proofName(domain), context.dnsServers);
  if (isProven(answer, proof) !== true) {
    const wanted = `set its TXT record ${proofName(domain)} to ${proof} and try again`;
    throw new Problem('domain_unproven', `${foundText(domain, answer)}; ${wanted}`);
  }
  const row = await changePage(context, actor, id, async (_scope, tx, present) => {
    if (present.domain?.proof !== proof) throw new Problem('conflict', 'the domain was changed meanwhile');
    const isNew = present.domain.state !== 'verified';
    await prove(tx, present, domain, context.now());
    if (!isNew) return null;
    await countVersion(tx, id);
    return { action: 'status_page.domain_verified', detail: { domain } };
  });
  if (row === null) throw noPage(id);
  return row;
}

/** In a part of the transaction of its own, which is undone when another's proof stands. */
async function prove(tx: Transaction, page: PageRow, domain: string, nowMs: number): Promise<void> {
  try {
    await tx.transaction((part) => markVerified(part, page, nowMs));
  } catch (error) {
    if (
      !(error instanceof UniqueIntegrityConstraintViolationError) ||
      error.constraint !== 'status_page_domains_verified'
    )
      throw error;
    throw new Problem(
      'domain_taken',
      `another status page has proven ${domain}; take its TXT record away, which is noticed within eight days, or its domain`,
    );
  }
}
