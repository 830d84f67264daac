import { authenticator } from '../../control-plane/src/identity/sign-in/testing/authenticator.ts';
import type { Authenticator } from '../../control-plane/src/identity/sign-in/testing/authenticator.ts';
import { totpCode } from '../../control-plane/src/identity/sign-in/testing/totp-code.ts';
import { sql } from '../../control-plane/src/platform/database/pools.ts';
import type { Prepared, Recipe } from './recipes.ts';
import type { World } from './world.ts';

/*
 * Calls that need a device or a state of an account, with what an authenticator app, a passkey and a linked person show. The access matrix tries these
 * routes without them, because each of its actors would need a device of its own.
 */

const mfa = '/api/v1/auth/mfa';
type Account = Awaited<ReturnType<World['account']>>;

const newAccount = (world: World): Promise<Account> => world.account(`device${world.unique()}@example.com`);

/** Makes a call that prepares another one. */
async function made(world: World, path: string, body: unknown, token?: string): Promise<Record<string, unknown>> {
  const answer = await world.call('POST', path, { body, ...(token === undefined ? {} : { token }) });
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** The code that an app shows in so many steps of 30 s from now: each step is taken once. */
const codeOf = (secret: string, step: number): string => totpCode(secret, Date.now() + step * 30_000);

/** An account with an authenticator app; the code of the next step is not used up. */
async function withApp(
  world: World,
): Promise<Account & { readonly secret: string; readonly codes: readonly string[] }> {
  const account = await newAccount(world);
  const { accessToken: token, password } = account;
  const secret = String((await made(world, `${mfa}/totp`, { password }, token))['secret']);
  const confirmed = await made(world, `${mfa}/totp/confirm`, { code: codeOf(secret, 0) }, token);
  return { ...account, secret, codes: confirmed['recovery_codes'] as string[] };
}

type Begun = { readonly registration_token: string; readonly options: Record<string, unknown> };

/** A passkey of an account, as its device answers the page. */
async function registration(world: World, { accessToken, password }: Account) {
  const begun = (await made(world, `${mfa}/passkeys/begin`, { password }, accessToken)) as unknown as Begun;
  const device = authenticator(world.context.publicUrl);
  return { device, body: { registration_token: begun.registration_token, passkey: device.register(begun.options) } };
}

async function withPasskey(world: World): Promise<Account & { readonly device: Authenticator }> {
  const account = await newAccount(world);
  const { device, body } = await registration(world, account);
  await made(world, `${mfa}/passkeys`, body, account.accessToken);
  return { ...account, device };
}

/** What a sign-in by password hands out where a second factor is needed. */
async function mfaToken(world: World, { email, password }: Account): Promise<string> {
  const { body } = await world.call('POST', '/api/v1/auth/login', { body: { email, password } });
  return String(body['mfa_token']);
}

/** A call of an account by its own session, with its password. */
const withPassword = ({ accessToken: token, password }: Account, path: string): Prepared => ({
  path,
  body: { password },
  token,
});

export const secondFactorRecipes: Readonly<Record<string, Recipe>> = {
  'POST /api/v1/auth/verify-email': async (world) => ({
    path: '/api/v1/auth/verify-email',
    token: (await newAccount(world)).accessToken,
  }),
  'DELETE /api/v1/messenger-bot/link': async (world) => {
    const { id, accessToken: token } = await newAccount(world);
    await world.database.worker.query(sql.unsafe`
      insert into messenger_people (user_id, person_id, name) values (${id}, ${1_000 + world.unique()}, 'Ada')`);
    return { path: '/api/v1/messenger-bot/link', token };
  },
  'POST /api/v1/auth/mfa/totp': async (world) => withPassword(await newAccount(world), `${mfa}/totp`),
  'POST /api/v1/auth/mfa/totp/confirm': async (world) => {
    const { accessToken: token, password } = await newAccount(world);
    const { secret } = await made(world, `${mfa}/totp`, { password }, token);
    return { path: `${mfa}/totp/confirm`, body: { code: codeOf(String(secret), 1) }, token };
  },
  'DELETE /api/v1/auth/mfa/totp': async (world) => withPassword(await withApp(world), `${mfa}/totp`),
  'POST /api/v1/auth/mfa/recovery-codes': async (world) => withPassword(await withApp(world), `${mfa}/recovery-codes`),
  'POST /api/v1/auth/mfa/verify': async (world) => {
    const account = await withApp(world);
    const body = { mfa_token: await mfaToken(world, account), recovery_code: account.codes[0] };
    return { path: `${mfa}/verify`, body };
  },
  'POST /api/v1/auth/mfa/passkeys/begin': async (world) =>
    withPassword(await newAccount(world), `${mfa}/passkeys/begin`),
  'POST /api/v1/auth/mfa/passkeys': async (world) => {
    const account = await newAccount(world);
    const { body } = await registration(world, account);
    return { path: `${mfa}/passkeys`, body, token: account.accessToken };
  },
  'DELETE /api/v1/auth/mfa/passkeys/:id': async (world) => {
    const account = await withPasskey(world);
    const { body } = await world.call('GET', mfa, { token: account.accessToken });
    const [passkey] = body['passkeys'] as { id: number }[];
    return withPassword(account, `${mfa}/passkeys/${passkey?.id}`);
  },
  'POST /api/v1/auth/mfa/passkey-options': async (world) => ({
    path: `${mfa}/passkey-options`,
    body: { mfa_token: await mfaToken(world, await withPasskey(world)) },
  }),
  'POST /api/v1/auth/passkey/begin': async () => ({ path: '/api/v1/auth/passkey/begin' }),
  'POST /api/v1/auth/passkey/finish': async (world) => {
    const { device } = await withPasskey(world);
    const begun = await made(world, '/api/v1/auth/passkey/begin', undefined);
    const passkey = device.answer(begun['options'] as Record<string, unknown>);
    return { path: '/api/v1/auth/passkey/finish', body: { sign_in_token: begun['sign_in_token'], passkey } };
  },
};
