import { identityProviders, signInWaysRoute } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import { handle } from '../../platform/http/handler.ts';
import type { Route } from '../../platform/http/handler.ts';
import { completePageRoutes } from './complete-page/routes.ts';
import { identityRoutes } from './identities/routes.ts';
import { messengerRoutes } from './messenger/routes.ts';
import { relyingParty } from './passkeys/ceremony.ts';
import { passkeyRoutes } from './passkeys/routes.ts';
import { passwordRoutes } from './password/routes.ts';
import { providerRoutes } from './providers/routes.ts';
import { secondFactorRoutes } from './second-factor/routes.ts';

/** All routes of signing in. */
export function signInRoutes(context: Context): readonly Route[] {
  return [
    ...passwordRoutes(context),
    ...providerRoutes(context),
    ...identityRoutes(context),
    ...messengerRoutes(context),
    ...secondFactorRoutes(context),
    ...passkeyRoutes(context),
    ...completePageRoutes(),
    handle(signInWaysRoute, async () => ({
      registration: context.registration,
      identity_providers: identityProviders.flatMap((letter) => {
        const provider = context.signIn.identityProviders[letter];
        return provider === undefined ? [] : [{ id: `identity-provider-${letter}` as const, name: provider.name }];
      }),
      messenger: context.signIn.messengerBotToken !== undefined,
      passkeys: relyingParty(context.publicUrl) !== undefined,
    })),
  ];
}
