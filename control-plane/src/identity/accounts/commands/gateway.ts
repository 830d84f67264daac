import type { Database } from '../../../platform/database/pools.ts';
import { registerAccount } from '../../auth/index.ts';
import type { PlanName } from '../../plans/index.ts';
import { makePingKey } from '../../workspaces/index.ts';
import { recordMade } from './queries.ts';

/** Makes an account as a registration would, at the command line. @returns its number; undefined when the address has one already */
export async function makeAccount(
  database: Pick<Database, 'api' | 'worker'>,
  account: { readonly email: string; readonly passwordHash: string; readonly plan: PlanName },
): Promise<number | undefined> {
  const made = await registerAccount(
    database.api,
    { ...account, pingKey: makePingKey() },
    { asFirst: true, asLater: true },
    { remoteAddress: 'command', requestId: 'command' },
  );
  if (made.outcome !== 'created') return undefined;
  await recordMade(database.worker, made.user_id);
  return made.user_id;
}
