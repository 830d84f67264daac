import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';

const tongueRow = z.object({ locale: z.enum(['en', 'ru']), timezone: z.string() });

/** The language and the zone of an alert's owner, who may be another member than the one who tries it. For the worker login. */
export async function tongueOf(worker: CommonQueryMethods, ownerId: number): Promise<z.output<typeof tongueRow>> {
  return worker.one(sql.type(tongueRow)`select locale, timezone from users where id = ${ownerId}`);
}
