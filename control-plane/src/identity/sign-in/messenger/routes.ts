import { messengerLoginRoute, messengerWebappRoute, Problem } from '@parallax/api-contract';
import type { TokenPair } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { tokensOf } from '../entry/queries.ts';
import { inviteProblem } from '../../workspaces/index.ts';
import { requireRecentProof } from '../../accounts/index.ts';
import { enterFromOutside, linkToAccount } from '../identities/gateway.ts';
import type { Refusal } from '../identities/gateway.ts';
import { broughtInvite } from '../identities/invite.ts';
import { keepProof, proofOwner, useProof } from './queries.ts';
import { judgeWebapp, judgeWidget } from './signed-data.ts';
import type { Judged } from './signed-data.ts';

// Telegram's numbers of people are the same for every bot.
const issuer = 'https://telegram.org';

/** Sign-in by what the messenger signed. */
export function messengerRoutes(context: Context): readonly Route[] {
  return [
    handle(messengerLoginRoute, async ({ body, caller, request }) =>
      login(context, judgeWidget(body, requireBotToken(context), context.now()), caller, request),
    ),
    handle(messengerWebappRoute, async ({ body, caller, request }) =>
      login(context, judgeWebapp(body.init_data, requireBotToken(context), context.now()), caller, request),
    ),
  ];
}

async function login(
  context: Context,
  judged: Judged,
  caller: Caller | undefined,
  request: RequestFacts,
): Promise<TokenPair> {
  if (caller !== undefined && caller.sessionId === undefined) {
    throw new Problem('wrong_credential_kind', 'an identity is linked by the access token of a session');
  }
  if (caller !== undefined) await requireRecentProof(context, { caller, request });
  const inviteHash = broughtInvite(request);
  if (!judged.holds) throw new Problem('invalid_credentials', reasons[judged.reason]);
  const { profile, digest } = judged;
  const pool = context.database.api;
  // Data of the widget counts once; that of a mini app as often as it is sent, for the account of its first use.
  const owner = profile === undefined ? undefined : await proofOwner(pool, digest);
  if (owner === undefined && !(await useProof(pool, digest))) throw wasUsed();
  const identity = { way: 'messenger', issuer, subject: judged.subject, email: null, emailVerified: false } as const;
  const isOf = async (userId: number): Promise<boolean> => owner === undefined || keepProof(pool, digest, userId);
  if (caller !== undefined && !(await isOf(caller.userId))) throw wasUsed();
  if (caller !== undefined && !(await linkToAccount(context, caller.userId, identity, request))) {
    throw new Problem(
      'identity_taken',
      'this person of the messenger is linked to another account: unlink it there first',
    );
  }
  const given = { inviteHash, profile, admits: isOf, isKnown: typeof owner === 'number' };
  const result = await enterFromOutside(context, identity, given, request);
  if (result.kind === 'refused') throw result.reason === 'not_admitted' ? wasUsed() : refusal(context, result);
  return tokensOf(result);
}

function wasUsed(): Problem {
  return new Problem('invalid_credentials', 'this data was used before: let the messenger make new data');
}

const reasons = {
  malformed: 'this is not what the messenger signs: send all of its fields, unchanged',
  wrong_signature: 'the signature is not that of the messenger over these fields',
  too_old: 'this data is too old (10 minutes for the widget, an hour for a mini app): let the messenger make new data',
} as const;

function refusal(context: Context, refused: Exclude<Refusal, { reason: 'not_admitted' }>): Problem {
  switch (refused.reason) {
    case 'refused':
      return inviteProblem(refused.invite);
    case 'account_exists':
      return new Problem('account_exists', 'an account has this address: sign in and link the messenger there');
    case 'setup_token_required':
      return new Problem(
        'setup_token_required',
        'the first account of this installation is registered with its set-up token',
      );
    case 'closed':
      return new Problem(
        'registration_closed',
        context.registration === 'invite' ? 'registration is by invitation only' : 'registration is closed',
      );
  }
}

function requireBotToken(context: Context): string {
  const token = context.signIn.messengerBotToken;
  if (token !== undefined) return token;
  throw new Problem('not_found', 'sign-in by the messenger is not set up on this installation');
}
