import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from '@parallax/testkit';
import { exportJWK, generateKeyPair, SignJWT, decodeJwt } from 'jose';
import type { JWTPayload } from 'jose';
import { Provider } from 'oidc-provider';
import type { ProviderSettings } from '../../../sign-in-settings.ts';
import { openidAdapter } from './openid-adapter.ts';

/** Who sits before the provider. */
export type Person = { readonly sub: string; readonly email?: string; readonly email_verified?: boolean | string };

export type TestProvider = {
  /** As the product is told of it. */
  readonly settings: ProviderSettings;
  /** Who signs in from now on; undefined: whoever is asked declines, in markup. */
  person: Person | undefined;
  /** Changes what an ID token claims; it is signed anew, by the provider's key or by another. */
  tamper: ((claims: JWTPayload) => { readonly claims: JWTPayload; readonly key?: 'another' | 'none' }) | undefined;
  /** Answers everything with 503. */
  isAway: boolean;
  /** Paths that were asked for. */
  readonly asked: string[];
};

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** For tests: a real OpenID provider on loopback, whose people consent to everything. @param callbacks its client may be sent back to */
export async function openidProvider(t: TestContext, callbacks: readonly string[]): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const settings = { issuer, clientId: 'parallax', clientSecret: 'a secret: of 100% + more', name: 'Example ID' };
  const test: TestProvider = { settings, person: undefined, tamper: undefined, isAway: false, asked: [] };
  const keys = { own: await generateKeyPair('RS256', { extractable: true }), another: await generateKeyPair('RS256') };
  const provider = makeProvider(test, callbacks, { ...(await exportJWK(keys.own.privateKey)), kid: 'own', use: 'sig' });
  provider.use(async (ctx, next) => {
    await next();
    const { tamper } = test;
    const body = ctx.body as { id_token?: string } | undefined;
    if (tamper === undefined || ctx.path !== '/token' || typeof body?.id_token !== 'string') return;
    const { claims, key } = tamper(decodeJwt(body.id_token));
    ctx.body = {
      ...body,
      id_token: await signed(claims, key === 'another' ? keys.another.privateKey : keys.own.privateKey, key),
    };
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '';
    test.asked.push(path);
    if (test.isAway) response.writeHead(503).end();
    else if (path.startsWith('/interaction/')) void interact(provider, test, request, response);
    else void answer(request, response);
  });
  return test;
}

async function signed(claims: JWTPayload, key: PrivateKey, how: 'another' | 'none' | undefined): Promise<string> {
  if (how === 'none') {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'none' })}.${part(claims)}.`;
  }
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(key);
}

function makeProvider(test: TestProvider, callbacks: readonly string[], key: object): Provider {
  const { issuer, clientId, clientSecret } = test.settings;
  return new Provider(issuer, {
    adapter: openidAdapter(),
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...callbacks],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['of the test'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx, accountId) => ({ accountId, claims: async () => ({ ...test.person, sub: accountId }) }),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    jwks: { keys: [key] },
    pkce: { required: () => true },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
  });
}

/** Stands for the pages on which people log in and consent. */
async function interact(
  provider: Provider,
  test: TestProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt } = await provider.interactionDetails(request, response);
  const { person } = test;
  if (person === undefined) {
    const declined = { error: 'access_denied', error_description: '<script>alert(1)</script>' };
    await provider.interactionFinished(request, response, declined);
    return;
  }
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: person.sub } });
    return;
  }
  const grant = new provider.Grant({ accountId: person.sub, clientId: test.settings.clientId });
  grant.addOIDCScope('openid email');
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}
