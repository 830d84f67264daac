import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import type { TestApi } from '../../testing.ts';

/** For tests: what the audit log says of a user, oldest first. */
export async function actionsOf(api: TestApi, userId: number): Promise<readonly string[]> {
  const rows = await api.database.worker.any(sql.type(z.object({ action: z.string() }))`
    select action from audit_log where user_id = ${userId} order by id`);
  return rows.map((row) => row.action);
}

/** For tests: runs until no minute of the database's clock ended meanwhile, since limits count within one. */
export async function withinOneMinute<Result>(api: TestApi, work: () => Promise<Result>): Promise<Result> {
  const minute = () =>
    api.database.worker.oneFirst(sql.type(z.object({ at: z.number() }))`select date_trunc('minute', now()) as at`);
  for (;;) {
    const begun = await minute();
    const result = await work();
    if ((await minute()) === begun) return result;
  }
}
