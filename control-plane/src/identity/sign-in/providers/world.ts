import { inviteTokenHeader } from '@parallax/api-contract';
import type { TestContext } from '@parallax/testkit';
import { testApi } from '../../testing.ts';
import type { TestApi, TestApiOptions } from '../../testing.ts';
import { browser } from '../testing/browser.ts';
import type { Browser } from '../testing/browser.ts';
import { openidProvider } from '../testing/openid-provider.ts';
import type { Person, TestProvider } from '../testing/openid-provider.ts';

/** How the product calls itself in these tests; the test's browser knows where that is. */
export const publicUrl = 'http://parallax.example';

/** Where provider a sends browsers back to. */
export const callback = `${publicUrl}/api/v1/auth/identity-provider-a/callback`;

/** For tests: the API with a real provider behind letter a. */
export type ProviderWorld = TestApi & {
  readonly provider: TestProvider;
  readonly browser: () => Browser;
  /** Begins a sign-in in a browser. @returns where that goes */
  readonly begin: (by: Browser, token?: string, invite?: string) => Promise<URL>;
  /** Goes to the provider and back, up to the callback, which is not opened. */
  readonly goThere: (by: Browser, person: Person | undefined, token?: string, invite?: string) => Promise<URL>;
  /** Opens a callback. @returns the hash of the page that it ends on */
  readonly comeBack: (by: Browser, url: URL | string) => Promise<URLSearchParams>;
  /** All of it, in a browser of its own. */
  readonly signIn: (person: Person | undefined, token?: string, invite?: string) => Promise<URLSearchParams>;
};

export async function providerWorld(
  t: TestContext,
  options: TestApiOptions = {},
  known?: TestProvider,
): Promise<ProviderWorld> {
  const provider = known ?? (await openidProvider(t, [callback]));
  const signIn = { identityProviders: { a: provider.settings } };
  const api = await testApi(t, { ...options, context: { publicUrl, signIn, ...options.context } });
  const open = () => browser(publicUrl, api.url);
  const world: Omit<ProviderWorld, keyof TestApi> = {
    provider,
    browser: open,
    begin: async (by, token, invite) => {
      const headers: Record<string, string> = {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(invite === undefined ? {} : { [inviteTokenHeader]: invite }),
      };
      const response = await by.request(`${publicUrl}/api/v1/auth/identity-provider-a/login`, headers);
      const body = (await response.json()) as { authorization_url?: string };
      if (body.authorization_url === undefined) throw new Error(`login: ${response.status} ${JSON.stringify(body)}`);
      return new URL(body.authorization_url);
    },
    goThere: async (by, person, token, invite) => {
      provider.person = person;
      const { url, response } = await by.open((await world.begin(by, token, invite)).href, (at) =>
        at.href.startsWith(callback),
      );
      if (response !== undefined) throw new Error(`${url.href}: ${response.status} ${await response.text()}`);
      return url;
    },
    comeBack: async (by, url) => {
      const { url: end, response } = await by.open(String(url), (at) => at.pathname === '/auth/complete');
      if (response !== undefined) throw new Error(`callback: ${response.status} ${await response.text()}`);
      if (end.origin !== publicUrl || end.search !== '') throw new Error(`ended at ${end.href}`);
      return new URLSearchParams(end.hash.slice(1));
    },
    signIn: async (person, token, invite) => {
      const by = open();
      return world.comeBack(by, await world.goThere(by, person, token, invite));
    },
  };
  return { ...api, ...world };
}
