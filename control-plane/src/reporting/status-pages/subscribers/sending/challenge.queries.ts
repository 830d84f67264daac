import { subscriberKinds } from '@parallax/api-contract';
import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../../platform/database/pools.ts';
import { verifiedDomain } from '../../view/page-address.ts';
import { locales } from '../../view/locale.ts';

/** Longer than a receiver may take. */
const leaseSeconds = 60;
const atOnce = 20;

const challengedRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  page_id: z.number(),
  kind: z.enum(subscriberKinds),
  locale: z.enum(locales),
  attempts: z.number(),
  target_sealed: z.instanceof(Buffer),
  secret_sealed: z.instanceof(Buffer).nullable(),
  token_sealed: z.instanceof(Buffer),
  page_name: z.string(),
  page_public_id: z.string(),
  slug: z.string(),
  domain: z.string().nullable(),
  timezone: z.string(),
});
/** Somebody who is to be asked by a request now. */
export type Challenged = z.output<typeof challengedRow>;

/** Takes those whom a request is to ask whether they want to be told; another process gets one whose time ran out. */
export async function claimChallenges(worker: DatabasePool): Promise<readonly Challenged[]> {
  return worker.any(sql.type(challengedRow)`
    update status_page_subscribers s set challenge_attempts = s.challenge_attempts + 1,
      challenge_due_at = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    from status_pages p
    where p.id = s.page_id and s.id in (
      select c.id from status_page_subscribers c join status_pages q on q.id = c.page_id and q.is_published and q.deleted_at is null
      where c.challenge_due_at <= clock_timestamp() and c.state = 'pending' order by c.challenge_due_at limit ${atOnce} for update of c skip locked)
    returning s.id, s.workspace_id, s.page_id, s.kind, s.locale, s.challenge_attempts as attempts, s.target_sealed, s.secret_sealed,
      s.token_sealed, p.name as page_name, p.public_id as page_public_id, p.slug, ${verifiedDomain} as domain, p.timezone`);
}

/** When somebody is asked again. @param afterSeconds null: not any more */
export async function putChallenge(worker: DatabasePool, id: number, afterSeconds: number | null): Promise<void> {
  await worker.query(sql.unsafe`
    update status_page_subscribers set challenge_due_at = clock_timestamp() + make_interval(secs => ${afterSeconds}::float8)
    where id = ${id} and state = 'pending'`);
}

/** When one is due next, a query of one instant. */
export const firstDue = sql.fragment`select min(challenge_due_at) from status_page_subscribers`;
