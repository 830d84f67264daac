import { deleteMeRoute, Problem } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import { enqueue } from '../../../platform/outbox/enqueue.ts';
import { recordAudit } from '../../audit/index.ts';
import { accountDeletedLetter } from '../../mails/index.ts';
import { markWorkspaceDeleted } from '../../workspaces/index.ts';
import { requireProof } from '../proof/gateway.ts';
import { endOtherSessions, lockAccount, revokeApiKeys } from '../queries.ts';
import { accountDeleted } from './consumer.ts';
import { isLastAdministrator, lockOwnWorkspaces, markAccountDeleted } from './queries.ts';
import { refusedForOthers } from './shared-workspaces.ts';

/** Deleting the own account. */
export function deletionRoutes(context: Context): readonly Route[] {
  return [
    handle(deleteMeRoute, async ({ body, caller, request }) => {
      const proof = await requireProof(context, { caller, request }, body?.password, '/password');
      await deleteAccount(context, caller, request, proof);
    }),
  ];
}

/**
 * Makes the account unusable and its workspaces invisible in one transaction. What is in the workspaces is emptied by their own job, the
 * rest of the account by the outbox.
 */
async function deleteAccount(
  context: Context,
  caller: Caller,
  request: RequestFacts,
  { email, locale }: { readonly email: string | null; readonly locale: 'en' | 'ru' },
): Promise<void> {
  const scope = scopeOf(caller);
  await inScope(context.database.api, scope, async (transaction) => {
    await lockAccount(scope, transaction);
    if (caller.isAdministrator && (await isLastAdministrator(scope, transaction))) {
      throw new Problem(
        'last_administrator',
        'you are the only administrator of this installation: let another account administer it first (control-plane user make-admin)',
      );
    }
    const owned = await lockOwnWorkspaces(scope, transaction);
    const refusal = refusedForOthers(owned);
    if (refusal !== undefined) throw refusal;
    for (const { id } of owned) await markWorkspaceDeleted(transaction, id);
    await endOtherSessions(scope, transaction, undefined, 'deleted');
    await revokeApiKeys(scope, transaction);
    if (!(await markAccountDeleted(scope, transaction)))
      throw new Problem('not_found', 'the account is deleted already');
    const event = { action: 'user.deleted', subjectType: 'user', subjectId: caller.userId };
    await recordAudit(transaction, caller, request, { ...event, detail: { workspaces: owned.map(({ id }) => id) } });
    const payload = { user_id: caller.userId };
    await enqueue(transaction, { key: `account:${caller.userId}`, kind: accountDeleted, payload });
    if (email !== null) {
      await enqueueMail(transaction, context.sealer, { to: email, ...renderLetter(accountDeletedLetter(locale)) });
    }
  });
}
