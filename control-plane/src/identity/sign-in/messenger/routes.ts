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
import { useProof } from './queries.ts';
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
  if (!(await useProof(context.database.api, judged.digest))) {
    throw new Problem('invalid_credentials', 'this data was used before: let the messenger make new data');
  }
  const identity = { way: 'messenger', issuer, subject: judged.subject, email: null, emailVerified: false } as const;
  if (caller !== undefined && !(await linkToAccount(context, caller.userId, identity, request))) {
    throw new Problem(
      'identity_taken',
      'this person of the messenger is linked to another account: unlink it there first',
    );
  }
  const result = await enterFromOutside(context, identity, inviteHash, request);
  if (result.kind === 'refused') throw refusal(context, result);
  return tokensOf(result);
}

const reasons = {
  malformed: 'this is not what the messenger signs: send all of its fields, unchanged',
  wrong_signature: 'the signature is not that of the messenger over these fields',
  too_old: 'this data is older than 10 minutes: let the messenger make new data',
} as const;

function refusal(context: Context, refused: Refusal): Problem {
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
