import { changeEmailRoute, confirmEmailRoute, Problem, verifyEmailRoute } from '@parallax/api-contract';
import { UniqueIntegrityConstraintViolationError } from 'slonik';
import type { Context } from '../../../context.ts';
import type { Transaction } from '../../../platform/database/pools.ts';
import { inScope } from '../../../platform/database/scope.ts';
import type { Scope } from '../../../platform/database/scope.ts';
import { scopeOf } from '../../../platform/http/caller.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { renderLetter } from '../../../platform/mail/letter.ts';
import { enqueueMail } from '../../../platform/mail/mail.ts';
import {
  findTokenAccount,
  issueToken,
  mailVerification,
  takeToken,
  tokensInLastHour,
  voidTokens,
} from '../../account-tokens/index.ts';
import type { TokenAccount } from '../../account-tokens/index.ts';
import { recordAudit } from '../../audit/index.ts';
import { readUser } from '../../auth/index.ts';
import { addressChangedLetter, addressChangeLetter, addressChangeNotice, linkTo } from '../../mails/index.ts';
import { invalidToken } from '../invalid-token.ts';
import { requireProof } from '../proof/gateway.ts';
import { lockAccount } from '../queries.ts';
import { setProvenAddress } from './queries.ts';

/** Confirming and changing the mail address of an account. */
export function addressRoutes(context: Context): readonly Route[] {
  return [
    handle(verifyEmailRoute, async ({ caller, request }) => ({ message: await verify(context, caller, request) })),
    handle(changeEmailRoute, async ({ body, caller, request }) => {
      await askForChange(context, caller, body, request);
      return { message: 'a link was mailed to the new address; it becomes yours when you open it within a day' };
    }),
    handle(confirmEmailRoute, async ({ body, request }) => {
      const account = await findTokenAccount(context.database.api, body.token, 'email');
      if (account === undefined) throw invalidToken('email');
      await confirm(context, account, body.token, request);
      return { message: 'the address is confirmed' };
    }),
  ];
}

async function verify(context: Context, caller: Caller, request: RequestFacts): Promise<string> {
  const scope = scopeOf(caller);
  return inScope(context.database.api, scope, async (transaction) => {
    await lockAccount(scope, transaction);
    const user = await readUser(scope, transaction);
    if (user.email === null) {
      throw new Problem('conflict', 'this account has no mail address; name one by POST /api/v1/auth/change-email');
    }
    if (user.email_verified) return 'the address is confirmed already';
    await requireFewLinks(context, request, scope, transaction);
    await mailVerification(context, scope, transaction, { email: user.email, locale: user.locale });
    const event = { action: 'email.verification_requested', subjectType: 'user', subjectId: caller.userId };
    await recordAudit(transaction, caller, request, event);
    return 'a link that confirms the address was mailed to it';
  });
}

async function askForChange(
  context: Context,
  caller: Caller,
  body: { readonly new_email: string; readonly password?: string | undefined },
  request: RequestFacts,
): Promise<void> {
  const scope = scopeOf(caller);
  const { email, locale } = await requireProof(context, { caller, request }, body.password, '/password');
  await inScope(context.database.api, scope, async (transaction) => {
    await lockAccount(scope, transaction);
    await requireFewLinks(context, request, scope, transaction);
    // Whether another account has the address is told when it is confirmed, to somebody who reads its mails.
    const token = await issueToken(scope, transaction, 'email', body.new_email);
    const letter = addressChangeLetter(locale, linkTo(context.publicUrl, 'confirm-email', token));
    await enqueueMail(transaction, context.sealer, { to: body.new_email, ...renderLetter(letter) });
    if (email !== null && email !== body.new_email) {
      const notice = addressChangeNotice(locale, body.new_email, request.remoteAddress);
      await enqueueMail(transaction, context.sealer, { to: email, ...renderLetter(notice) });
    }
    const event = { action: 'email.change_requested', subjectType: 'user', subjectId: caller.userId };
    await recordAudit(transaction, caller, request, event);
  });
}

async function confirm(context: Context, account: TokenAccount, token: string, request: RequestFacts): Promise<void> {
  const scope: Scope = { userId: account.userId, workspaceIds: [] };
  const taken = new Problem('email_taken', 'another account has this address meanwhile');
  await inScope(context.database.api, scope, async (transaction) => {
    await lockAccount(scope, transaction);
    if (!(await takeToken(scope, transaction, token, 'email'))) throw invalidToken('email');
    const user = await setProvenAddress(scope, transaction, account.mailedTo);
    if (user === null) throw invalidToken('email');
    const isChange = user.former_email !== account.mailedTo;
    // Links that were mailed to the former address must not open the account any more.
    if (isChange) await voidTokens(scope, transaction);
    await recordAudit(transaction, { kind: 'user', userId: account.userId }, request, {
      action: isChange ? 'email.changed' : 'email.confirmed',
      subjectType: 'user',
      subjectId: account.userId,
    });
    if (isChange && user.former_email !== null) {
      const letter = addressChangedLetter(user.locale, account.mailedTo);
      await enqueueMail(transaction, context.sealer, { to: user.former_email, ...renderLetter(letter) });
    }
  }).catch((error: unknown) => {
    throw error instanceof UniqueIntegrityConstraintViolationError ? taken : error;
  });
}

/** Links go to addresses that may be anybody's. @throws Problem `rate_limited` */
async function requireFewLinks(
  context: Context,
  request: RequestFacts,
  scope: Scope,
  transaction: Transaction,
): Promise<void> {
  const rate = context.limits.rate('confirmation_mail');
  const used = 1 + (await tokensInLastHour(scope, transaction, 'email'));
  applyRates(
    request.reply,
    [{ ...rate, used, resetSeconds: rate.windowSeconds }],
    'mails that confirm an address',
    'of this account',
  );
}
