import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { callback, providerWorld, publicUrl } from './world.ts';
import type { ProviderWorld } from './world.ts';
import type { Browser } from '../testing/browser.ts';

const grace = { sub: 'grace', email: 'grace@example.com', email_verified: true } as const;

/** A callback with some of its parameters changed; undefined takes one out. */
function changed(url: URL, parameters: Readonly<Record<string, string | undefined>>): URL {
  const other = new URL(url);
  for (const [name, value] of Object.entries(parameters)) {
    if (value === undefined) other.searchParams.delete(name);
    else other.searchParams.set(name, value);
  }
  return other;
}

type Attempt = { readonly by: Browser; readonly url: URL; readonly world: ProviderWorld };

void t.test('a callback that this browser did not ask for, or that was altered, lets nobody in', async (t) => {
  const world = await providerWorld(t);
  await world.account('ada@example.com');
  const cases: [
    what: string,
    error: string,
    make: (attempt: Attempt) => Promise<{ by?: Browser; url: URL | string }>,
  ][] = [
    ['another browser', 'invalid_state', async ({ url }) => ({ by: world.browser(), url })],
    [
      'another browser that began one too',
      'invalid_state',
      async ({ url }) => {
        const by = world.browser();
        await world.begin(by);
        return { by, url };
      },
    ],
    [
      'used twice',
      'invalid_state',
      async ({ by, url }) => {
        const cookie = by.cookies().find((text) => text.startsWith('parallax-sign-in='));
        if ((await world.comeBack(by, url)).get('access_token') === null) throw new Error('the first time');
        const other = world.browser();
        const again = await other.request(url.href, { cookie: cookie ?? '' });
        return { by: other, url: again.headers.get('location') ?? '' };
      },
    ],
    ['no state', 'invalid_state', async ({ url }) => ({ url: changed(url, { state: undefined }) })],
    ['an empty state', 'invalid_state', async ({ url }) => ({ url: changed(url, { state: '' }) })],
    ['another state', 'invalid_state', async ({ url }) => ({ url: changed(url, { state: 'x'.repeat(43) }) })],
    ['nothing at all', 'invalid_state', async () => ({ url: callback })],
    [
      'older than ten minutes',
      'invalid_state',
      async ({ url }) => {
        await world.database.worker.query(sql.unsafe`update pending_sign_ins set expires_at = now()`);
        return { url };
      },
    ],
    ['no code', 'provider_refused', async ({ url }) => ({ url: changed(url, { code: undefined }) })],
    ['another code', 'provider_refused', async ({ url }) => ({ url: changed(url, { code: 'x'.repeat(43) }) })],
    ['another issuer', 'provider_refused', async ({ url }) => ({ url: changed(url, { iss: 'https://evil.example' }) })],
    ['no issuer', 'provider_refused', async ({ url }) => ({ url: changed(url, { iss: undefined }) })],
    [
      'the code of another sign-in',
      'provider_refused',
      async ({ url }) => {
        const other = await world.goThere(world.browser(), { sub: 'eve' });
        return { url: changed(url, { code: other.searchParams.get('code') ?? '' }) };
      },
    ],
    [
      'an error of the own state, in markup',
      'provider_refused',
      async ({ url }) => ({ url: changed(url, { error: '"><script>alert(1)</script>' }) }),
    ],
    [
      'an error of no state, in markup',
      'invalid_state',
      async () => ({ by: world.browser(), url: `${callback}?error=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E` }),
    ],
    [
      'an error with a line break',
      'provider_refused',
      async ({ url }) => ({ url: changed(url, { error: 'x\r\nSet-Cookie: a=b' }) }),
    ],
  ];
  for (const [what, error, make] of cases) {
    const by = world.browser();
    const url = await world.goThere(by, grace);
    const made = await make({ by, url, world });
    const hash = await world.comeBack(made.by ?? by, made.url);
    t.same([...hash], [['error', error]], what);
  }
});

void t.test('where it ends is never the choice of the address', async (t) => {
  const world = await providerWorld(t);
  await world.account('ada@example.com');
  for (const more of [
    { next: '//evil.example' },
    { redirect_uri: 'https://evil.example' },
    { access_token: 'x', 'x-forwarded-host': 'evil.example' },
  ]) {
    const by = world.browser();
    const url = changed(await world.goThere(by, grace), more);
    const answer = await by.request(url.href, { 'x-forwarded-host': 'evil.example' });
    t.match(
      answer.headers.get('location'),
      /^http:\/\/parallax\.example\/auth\/complete#access_token=ey[\w.-]+&refresh_token=plr_[\w-]+$/,
    );
  }
  const declined = await world.signIn(undefined);
  t.same([...declined], [['error', 'access_denied']], 'who declines is told so, in our words');
  for (const query of ['state=1&state=2', `state=${'x'.repeat(2_000)}`, 'state=%00', 'code[]=1']) {
    const answer = await world.browser().request(`${callback}?${query}`);
    t.ok([307, 414, 422].includes(answer.status), `${query.slice(0, 20)}: ${answer.status}`);
  }
});

void t.test('a state of one provider is none of the other', async (t) => {
  const first = await providerWorld(t);
  const { provider } = first;
  const both = { identityProviders: { a: provider.settings, b: provider.settings } };
  const world = await providerWorld(t, { context: { signIn: both } }, provider);
  await world.account('ada@example.com');
  const by = world.browser();
  const url = await world.goThere(by, grace);
  const cookie = by.cookies().find((text) => text.startsWith('parallax-sign-in=')) ?? '';
  const other = url.href.replace('provider-a', 'provider-b');
  const answer = await world.browser().request(other, { cookie });
  t.equal(answer.headers.get('location'), `${publicUrl}/auth/complete#error=invalid_state`);
  t.ok((await world.comeBack(by, url)).has('access_token'), 'and is not used up by it');
});

void t.test('an ID token is believed only when all of it is right', async (t) => {
  const world = await providerWorld(t);
  await world.account('ada@example.com');
  const { provider } = world;
  const now = Math.floor(Date.now() / 1_000);
  const cases: [what: string, tamper: NonNullable<typeof provider.tamper>][] = [
    ['another audience', (claims) => ({ claims: { ...claims, aud: 'another-client' } })],
    ['another authorized party', (claims) => ({ claims: { ...claims, aud: ['parallax', 'another'], azp: 'another' } })],
    ['another issuer', (claims) => ({ claims: { ...claims, iss: 'https://evil.example' } })],
    ['another nonce', (claims) => ({ claims: { ...claims, nonce: 'x' } })],
    ['no nonce', ({ nonce: _nonce, ...claims }) => ({ claims })],
    ['expired', (claims) => ({ claims: { ...claims, iat: now - 7_200, exp: now - 3_600 } })],
    ['no expiry', ({ exp: _exp, ...claims }) => ({ claims })],
    ['no subject', ({ sub: _sub, ...claims }) => ({ claims })],
    ['signed by another', (claims) => ({ claims, key: 'another' })],
    ['not signed', (claims) => ({ claims, key: 'none' })],
    ['another subject than the user info', (claims) => ({ claims: { ...claims, sub: 'eve' } })],
  ];
  for (const [what, tamper] of cases) {
    provider.tamper = tamper;
    t.same([...(await world.signIn(grace))], [['error', 'provider_refused']], what);
  }
  provider.tamper = (claims) => ({ claims });
  t.ok((await world.signIn(grace)).has('access_token'), 'signed anew and unchanged it is good');
});

void t.test('a subject that is none is refused like every other wrong claim', async (t) => {
  const world = await providerWorld(t);
  await world.account('ada@example.com');
  for (const [what, sub] of [
    ['an empty one', ''],
    ['a long one', 'x'.repeat(256)],
    ['one with NUL', 'gra\u0000ce'],
    ['half a surrogate pair', 'grace\ud800'],
    ['no text', 7],
  ] as const) {
    // Its address is in the token, so that nobody is asked what else is known of the subject.
    world.provider.tamper = (claims) => ({
      claims: { ...claims, sub: sub as string, email: 'grace@example.com', email_verified: true },
    });
    t.same([...(await world.signIn(grace))], [['error', 'provider_refused']], what);
  }
  world.provider.tamper = (claims) => ({ claims: { ...claims, sub: 'x'.repeat(255), email: 'grace@example.com' } });
  t.ok((await world.signIn(grace)).has('access_token'), 'the longest that there may be');
});

void t.test('the provider is asked for its description and keys once, and may be away', async (t) => {
  const world = await providerWorld(t);
  await world.account('ada@example.com');
  const { provider } = world;
  provider.isAway = true;
  const away = await world.call('GET', '/api/v1/auth/identity-provider-a/login');
  t.match(away, { status: 503, body: { code: 'provider_unavailable', detail: /^Example ID / } });
  t.match(away.headers.get('retry-after'), /^\d+$/);
  provider.isAway = false;
  provider.asked.length = 0;
  for (let count = 0; count < 3; count += 1) t.ok((await world.signIn(grace)).has('access_token'), 'back again');
  const times = (path: string) => provider.asked.filter((asked) => asked === path).length;
  t.equal(times('/.well-known/openid-configuration'), 1);
  t.equal(times('/jwks'), 1);
  t.equal(times('/token'), 3);
  const by = world.browser();
  const url = await world.goThere(by, grace);
  provider.isAway = true;
  t.same([...(await world.comeBack(by, url))], [['error', 'provider_unavailable']]);
});
