import type { Workspace } from '@parallax/api-contract';
import type { Transaction } from '../../platform/database/pools.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { makePingKey } from './ping-key.ts';
import { changeWorkspace, findWorkspace, lockWorkspace } from './queries.ts';
import { noWorkspace, requireOwner, workspaceAnswer } from './workspace-answer.ts';

/**
 * Gives a workspace of the scope's user a new ping key, as its next version. Whoever exchanges the URLs of its heartbeats does so in the same transaction.
 * @throws Problem `not_found`, or `forbidden` when they do not own it
 */
export async function exchangePingKey(scope: Scope, tx: Transaction, id: number, caller: Caller): Promise<Workspace> {
  requireOwner(await lockWorkspace(scope, tx, id), id);
  await changeWorkspace(tx, id, { pingKey: makePingKey() });
  const row = await findWorkspace(scope, tx, id);
  if (row === null) throw noWorkspace(id);
  return workspaceAnswer(row, caller);
}
