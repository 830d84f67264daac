/** What was taken from an account together with its sessions: how many of each. */
export type Revoked = {
  readonly apiKeys: number;
  readonly accessTokens: number;
  readonly identities: number;
  readonly passkeys: number;
  readonly authenticators: number;
};

const words = {
  en: {
    apiKeys: ['API key', 'API keys'],
    accessTokens: ['access token', 'access tokens'],
    identities: ['linked identity', 'linked identities'],
    passkeys: ['passkey', 'passkeys'],
    authenticators: ['authenticator app', 'authenticator apps'],
  },
  ru: {
    apiKeys: 'ключи API',
    accessTokens: 'токены доступа',
    identities: 'привязанные учётные записи',
    passkeys: 'ключи доступа',
    authenticators: 'приложение-аутентификатор',
  },
} as const;

/** What there was of it, counted: "2 API keys, 1 access token". Empty when there was nothing. */
export function listOfRevoked(revoked: Revoked, locale: 'en' | 'ru'): string {
  const kinds = Object.keys(words.en) as (keyof Revoked)[];
  return kinds
    .filter((kind) => revoked[kind] > 0)
    .map((kind) => {
      const count = revoked[kind];
      // Behind a colon a number needs no form of its word.
      return locale === 'ru' ? `${words.ru[kind]}: ${count}` : `${count} ${words.en[kind][count === 1 ? 0 : 1]}`;
    })
    .join(', ');
}
