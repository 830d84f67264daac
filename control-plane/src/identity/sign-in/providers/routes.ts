import { identityProviders, Problem, providerCallbackRoute, providerLoginRoute } from '@parallax/api-contract';
import type { IdentityProvider } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import type { ProviderSettings } from '../../../sign-in-settings.ts';
import { makeSecretToken } from '../entry/secret-token.ts';
import { requireRecentProof } from '../../accounts/index.ts';
import { enterFromOutside, linkToAccount } from '../identities/gateway.ts';
import { broughtInvite } from '../identities/invite.ts';
import type { OutsideIdentity } from '../identities/queries.ts';
import { authorizationUrl, exchangeCode, ProviderFault } from './gateway.ts';
import { browserCookie, callbackUrl, completeUrl, proofsOf, readBrowserCookie, wayOf } from './provider.ts';
import type { CallbackError } from './provider.ts';
import { beginProviderSignIn, takeProviderSignIn } from './queries.ts';

/** Sign-in at the identity providers that are set up. */
export function providerRoutes(context: Context): readonly Route[] {
  return identityProviders.flatMap((letter) => [loginRoute(context, letter), callbackRoute(context, letter)]);
}

function loginRoute(context: Context, letter: IdentityProvider): Route {
  return handle(providerLoginRoute(letter), async ({ caller, request }) => {
    const provider = requireProvider(context, letter);
    if (caller !== undefined && caller.sessionId === undefined) {
      throw new Problem('wrong_credential_kind', 'an identity is linked by the access token of a session');
    }
    if (caller !== undefined) await requireRecentProof(context, { caller, request });
    const inviteHash = broughtInvite(request);
    const callback = callbackUrl(context.publicUrl, letter);
    const state = makeSecretToken();
    const browser = makeSecretToken();
    const url = await addressOf(context, provider, { callback, state, ...proofsOf(browser, state) });
    const link = caller?.sessionId === undefined ? undefined : { userId: caller.userId, sessionId: caller.sessionId };
    await beginProviderSignIn(context.database.api, { state, browser, way: wayOf(letter) }, link, inviteHash);
    void request.reply.header('set-cookie', browserCookie(callback, browser));
    return { authorization_url: url };
  });
}

async function addressOf(
  context: Context,
  provider: ProviderSettings,
  request: Parameters<typeof authorizationUrl>[1],
): Promise<string> {
  try {
    return await authorizationUrl(provider, request, context.now());
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    throw new Problem('provider_unavailable', `${provider.name} does not answer as it should; try again`, {
      cause: error,
    });
  }
}

function callbackRoute(context: Context, letter: IdentityProvider): Route {
  return handle(providerCallbackRoute(letter), async ({ query, request }) => {
    const provider = requireProvider(context, letter);
    const callback = callbackUrl(context.publicUrl, letter);
    const result = await outcomeOf(context, letter, provider, query, request);
    void request.reply.headers({
      location: completeUrl(context.frontendUrl ?? context.publicUrl, result),
      'set-cookie': browserCookie(callback, undefined),
    });
  });
}

type Query = {
  readonly code?: string | undefined;
  readonly state?: string | undefined;
  readonly error?: string | undefined;
  readonly iss?: string | undefined;
};

/** What the page is told: words of ours only, whatever the query says. */
async function outcomeOf(
  context: Context,
  letter: IdentityProvider,
  provider: ProviderSettings,
  query: Query,
  request: RequestFacts,
): Promise<Readonly<Record<string, string>>> {
  const callback = callbackUrl(context.publicUrl, letter);
  const way = wayOf(letter);
  const browser = readBrowserCookie(callback, request.header('cookie'));
  const { state, code } = query;
  // An answer that this browser did not ask for is nobody's, and neither is its error.
  if (browser === undefined || state === undefined) return failed('invalid_state');
  const pending = await takeProviderSignIn(context.database.api, { state, browser, way });
  if (!pending.known) return failed('invalid_state');
  if (query.error !== undefined || code === undefined) {
    return failed(query.error === 'access_denied' ? 'access_denied' : 'provider_refused');
  }
  const proofs = { callback, ...proofsOf(browser, state) };
  const found = await exchange(context, provider, { code, state, iss: query.iss }, proofs);
  if (found instanceof ProviderFault) {
    return failed(found.kind === 'unavailable' ? 'provider_unavailable' : 'provider_refused');
  }
  const identity = { way, ...found };
  if (pending.for_user === null) return entered(context, identity, pending.invite_hash ?? undefined, request);
  if (pending.session_lives !== true) return failed('session_ended');
  const isLinked = await linkToAccount(context, pending.for_user, identity, request);
  return isLinked ? { linked: way } : failed('identity_taken');
}

async function exchange(
  context: Context,
  provider: ProviderSettings,
  ...[answer, proofs]: [Parameters<typeof exchangeCode>[1], Parameters<typeof exchangeCode>[2]]
): Promise<Awaited<ReturnType<typeof exchangeCode>> | ProviderFault> {
  try {
    return await exchangeCode(provider, answer, proofs, context.now());
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    // Never the cause itself: it may hold tokens.
    const reason = error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : 'unknown';
    context.log.warn({ issuer: provider.issuer, reason }, 'a sign-in at an identity provider failed');
    return error;
  }
}

async function entered(
  context: Context,
  identity: OutsideIdentity,
  inviteHash: Buffer | undefined,
  request: RequestFacts,
): Promise<Readonly<Record<string, string>>> {
  const result = await enterFromOutside(context, identity, { inviteHash }, request);
  switch (result.kind) {
    case 'signed_in':
      return { access_token: result.tokens.access_token, refresh_token: result.tokens.refresh_token };
    case 'second_factor':
      return { mfa_token: result.mfaToken, factors: result.factors.join(',') };
    case 'refused':
      if (result.reason === 'refused') return failed(`invite_${result.invite}`);
      // Only who asks to admit is refused so, and a provider does not.
      if (result.reason === 'not_admitted') return failed('provider_refused');
      return failed(result.reason === 'closed' ? 'registration_closed' : result.reason);
  }
}

function failed(error: CallbackError): Readonly<Record<string, string>> {
  return { error };
}

function requireProvider(context: Context, letter: IdentityProvider): ProviderSettings {
  const provider = context.signIn.identityProviders[letter];
  if (provider !== undefined) return provider;
  throw new Problem('not_found', `identity provider ${letter} is not set up on this installation`);
}
