import type { DatabasePool } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

const linkRow = z.object({
  report: z.string().nullable(),
  address: z.string().nullable(),
  locale: z.enum(['en', 'ru']).nullable(),
  is_unsubscribed: z.boolean().nullable(),
});

/** Whom the token of a link is for; an action is done before. Nulls: there is no such link any more. Before the tenant is known. */
export async function useReportLink(
  pool: DatabasePool,
  tokenHash: Buffer,
  action: 'unsubscribe' | 'subscribe' | null,
): Promise<z.output<typeof linkRow>> {
  return pool.one(sql.type(linkRow)`
    select report, address, locale, is_unsubscribed from identity_report_reader(${sql.binary(tokenHash)}, ${action})`);
}
