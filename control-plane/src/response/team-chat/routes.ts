import { createHash, randomBytes } from 'node:crypto';
import { Problem, teamChatCallbackRoute, teamChatWebhookRoute } from '@parallax/api-contract';
import type { TeamChatApp } from '../channels/index.ts';
import type { Context } from '../../context.ts';
import { inScope } from '../../platform/database/scope.ts';
import type { Scope } from '../../platform/database/scope.ts';
import { scopeOf } from '../../platform/http/caller.ts';
import { handle } from '../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../platform/http/handler.ts';
import { addDestination } from '../channels/index.ts';
import { exchangeCode, TeamChatFault } from './gateway.ts';
import { insertRequest, planOf, takeRequest } from './queries.ts';
import {
  alertsPageUrl,
  authorizationUrl,
  browserCookie,
  callbackUrl,
  defaultHooksUrl,
  readBrowserCookie,
  requestLifeMs,
} from './team-chat.ts';

type Result = Parameters<typeof alertsPageUrl>[1];
type Query = {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly error?: string | undefined;
};

/** A person lets alerts into a room of the team chat. */
export function teamChatRoutes(context: Context): Route[] {
  const callback = callbackUrl(context.publicUrl);
  return [
    handle(teamChatWebhookRoute, async ({ caller, request }) => {
      const app = requireApp(context);
      const { sessionId } = caller;
      if (sessionId === undefined) {
        throw new Problem('wrong_credential_kind', 'a room is connected by the access token of a session');
      }
      const [state, browser] = [makeToken(), makeToken()];
      const scope = scopeOf(caller);
      await inScope(context.database.api, scope, (tx) =>
        insertRequest(scope, tx, {
          stateHash: hashOf(state),
          browserHash: hashOf(browser),
          sessionId,
          lifeMs: requestLifeMs,
        }),
      );
      void request.reply.header('set-cookie', browserCookie(callback, browser));
      return { authorization_url: authorizationUrl(app, context.publicUrl, state) };
    }),

    handle(teamChatCallbackRoute, async ({ query, request }) => {
      const app = requireApp(context);
      const result = await outcomeOf(context, app, query, request);
      void request.reply.headers({
        location: alertsPageUrl(context.publicUrl, result),
        'set-cookie': browserCookie(callback, undefined),
      });
    }),
  ];
}

/** What the page is told: words of ours only, whatever the query says. */
async function outcomeOf(context: Context, app: TeamChatApp, query: Query, request: RequestFacts): Promise<Result> {
  const browser = readBrowserCookie(callbackUrl(context.publicUrl), request.header('cookie'));
  // An answer that this browser did not ask for is nobody's, and neither is its error.
  if (browser === undefined || query.state === undefined) return { error: 'invalid_state' };
  const userId = await takeRequest(context.database.api, hashOf(query.state), hashOf(browser));
  if (userId === null) return { error: 'invalid_state' };
  if (query.error !== undefined || query.code === undefined) {
    return { error: query.error === 'access_denied' ? 'access_denied' : 'provider_refused' };
  }
  try {
    const room = await exchangeCode(context.outbound.trusted, app, query.code, {
      publicUrl: context.publicUrl,
      hooksUrl: context.channels.baseUrls['team-chat'] ?? defaultHooksUrl,
    });
    const scope: Scope = { userId, workspaceIds: [] };
    const plan = await inScope(context.database.api, scope, (tx) => planOf(scope, tx));
    const most = context.limits.plan(plan).alertChannels;
    const added = await addDestination(context, 'team-chat', { userId, most, request }, room);
    return added.kind === 'added' ? { destination: added.key } : { error: added.kind };
  } catch (error) {
    if (!(error instanceof TeamChatFault)) throw error;
    context.log.warn({ reason: error.message }, 'a room of the team chat could not be connected');
    return { error: error.kind === 'unavailable' ? 'provider_unavailable' : 'provider_refused' };
  }
}

function requireApp(context: Context): TeamChatApp {
  const { teamChatApp } = context.channels;
  if (teamChatApp !== undefined) return teamChatApp;
  throw new Problem('not_found', 'the team chat is not set up on this installation');
}

function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
