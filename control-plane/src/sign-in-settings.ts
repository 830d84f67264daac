import { identityProviders } from '@parallax/api-contract';
import type { IdentityProvider } from '@parallax/api-contract';
import { SettingsError } from '@parallax/settings';
import type { ControlPlaneSettings } from '@parallax/settings';

/** An OpenID Connect provider that people may sign in with. */
export type ProviderSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** As people read it. */
  readonly name: string;
};

/** Ways in beside the password, as far as the operator has set them up. */
export type SignInSettings = {
  readonly identityProviders: Readonly<Partial<Record<IdentityProvider, ProviderSettings>>>;
  /** Of the Telegram bot that vouches for its users. */
  readonly messengerBotToken?: string;
};

type Given = Pick<
  ControlPlaneSettings,
  'messengerBotToken' | `identityProvider${'A' | 'B'}${'Issuer' | 'ClientId' | 'ClientSecret' | 'Name'}`
>;

/**
 * The ways in that the settings describe.
 * @throws SettingsError when a provider is described in part
 */
export function signInSettings(settings: Given): SignInSettings {
  const found = identityProviders.flatMap((letter) => {
    const provider = providerOf(settings, letter === 'a' ? 'A' : 'B');
    return provider === undefined ? [] : [[letter, provider] as const];
  });
  return {
    identityProviders: Object.fromEntries(found),
    ...(settings.messengerBotToken === undefined ? {} : { messengerBotToken: settings.messengerBotToken }),
  };
}

function providerOf(settings: Given, letter: 'A' | 'B'): ProviderSettings | undefined {
  const issuer = settings[`identityProvider${letter}Issuer`];
  const clientId = settings[`identityProvider${letter}ClientId`];
  const clientSecret = settings[`identityProvider${letter}ClientSecret`];
  const name = settings[`identityProvider${letter}Name`];
  if ([issuer, clientId, clientSecret, name].every((value) => value === undefined)) return undefined;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    const prefix = `PARALLAX_IDENTITY_PROVIDER_${letter}_`;
    throw new SettingsError([
      `a provider needs ${prefix}ISSUER, ${prefix}CLIENT_ID and ${prefix}CLIENT_SECRET: set all three or none`,
    ]);
  }
  return { issuer, clientId, clientSecret, name: name ?? new URL(issuer).host };
}
