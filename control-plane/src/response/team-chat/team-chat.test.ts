import t from 'tap';
import { z } from 'zod';
import { testApi } from '../../identity/testing.ts';
import type { TestAccount, TestApi } from '../../identity/testing.ts';
import { accessTokensCapability } from '../../identity/tokens/index.ts';
import { signInCapability } from '../../identity/sign-in/index.ts';
import { authCapability } from '../../identity/auth/index.ts';
import { sql } from '../../platform/database/pools.ts';
import { channelsCapability } from '../channels/index.ts';
import { testTeamChat } from './testing/team-chat.ts';
import type { TestTeamChat } from './testing/team-chat.ts';
import { teamChatCapability } from './index.ts';

const path = '/api/v1/auth/team-chat/webhook';

type World = {
  readonly api: TestApi;
  readonly chat: TestTeamChat;
  readonly ada: TestAccount;
  /** Begins in a browser. @returns where that goes, and its cookie */
  readonly begin: (account: TestAccount) => Promise<{ readonly url: string; readonly cookie: string }>;
  /** Comes back. @returns the hash of the page */
  readonly back: (url: URL, cookie?: string) => Promise<Record<string, string>>;
  readonly connect: (account: TestAccount, room: string) => Promise<Record<string, string>>;
  readonly settings: (account: TestAccount) => Promise<unknown>;
};

async function world(t: Parameters<typeof testApi>[0], plan: 'free' | 'self_hosted' = 'self_hosted'): Promise<World> {
  const chat = await testTeamChat(t);
  const { url, clientId, clientSecret } = chat;
  const api = await testApi(t, {
    capabilities: [authCapability, signInCapability, accessTokensCapability, channelsCapability, teamChatCapability],
    context: {
      publicUrl: 'http://parallax.example',
      defaultPlan: plan,
      channels: {
        baseUrls: { 'team-chat': url },
        hasMailServer: true,
        hasTeamChatApp: true,
        teamChatApp: { url, clientId, clientSecret },
      },
    },
  });
  const ada = await api.account('ada@example.com');
  const begin: World['begin'] = async (account) => {
    const begun = await api.call('GET', path, { token: account.accessToken });
    if (begun.status !== 200) throw new Error(begun.text);
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    return { url: String(begun.body['authorization_url']), cookie };
  };
  const back: World['back'] = async (to, cookie) => {
    const answer = await api.call('GET', `${to.pathname}${to.search}`, {
      headers: cookie === undefined ? {} : { cookie },
    });
    const location = new URL(answer.headers.get('location') ?? 'x:');
    if (answer.status !== 307 || `${location.origin}${location.pathname}` !== 'http://parallax.example/alerts') {
      throw new Error(`${answer.status} ${location.href}`);
    }
    return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  };
  return {
    api,
    chat,
    ada,
    begin,
    back,
    connect: async (account, room) => {
      const begun = await begin(account);
      return back(chat.consent(begun.url, room), begun.cookie);
    },
    settings: async (account) => {
      const { body } = await api.call('GET', '/api/v1/alert-channel-configs', { token: account.accessToken });
      return (body['alert_channel_configs'] as { settings: unknown }[])[0]?.settings;
    },
  };
}

void t.test('a room that was chosen is a destination; its URL is told nobody', async (t) => {
  const { connect, settings, ada, api } = await world(t);
  t.same(await connect(ada, '#ops'), { team_chat: 'connected', destination: 'acme-ops' });
  t.same(await connect(ada, '#team'), { team_chat: 'connected', destination: 'acme-team' });
  t.same(await connect(ada, '#ops'), { team_chat: 'connected', destination: 'acme-ops' }, 'the same room again');
  const shown = await settings(ada);
  t.match(shown, {
    destinations: [
      { key: 'acme-team', name: 'Acme #team' },
      { key: 'acme-ops', name: 'Acme #ops' },
    ],
  });
  t.notMatch(JSON.stringify(shown), /services/);
  const kept = await api.database.worker.oneFirst(sql.type(z.object({ sealed: z.instanceof(Buffer) }))`
    select sealed_settings as sealed from channel_configs`);
  t.notMatch(kept.toString('latin1'), /xoxb|services/);
});

void t.test('what comes back counts once, in the browser that began, while the session lives', async (t) => {
  const { begin, back, chat, ada, api, settings } = await world(t);
  const eve = await api.account('eve@example.com');
  const begun = await begin(ada);
  const url = chat.consent(begun.url, '#ops');
  t.same(await back(url), { team_chat_error: 'invalid_state' }, 'without the cookie');
  const other = await begin(eve);
  t.same(await back(url, other.cookie), { team_chat_error: 'invalid_state' }, 'in another browser');
  t.same(await back(url, begun.cookie), { team_chat: 'connected', destination: 'acme-ops' });
  t.same(await back(url, begun.cookie), { team_chat_error: 'invalid_state' }, 'again');
  t.equal(await settings(eve), undefined);
  const late = await begin(ada);
  await api.call('POST', '/api/v1/auth/logout', { token: ada.accessToken, body: {} });
  t.same(await back(chat.consent(late.url, '#late'), late.cookie), { team_chat_error: 'invalid_state' });
});

void t.test('what goes wrong is told in words of ours', async (t) => {
  const { begin, back, chat, ada } = await world(t);
  const outcome = async (query: Record<string, string>) => {
    const begun = await begin(ada);
    const url = chat.consent(begun.url, '#ops');
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return (await back(url, begun.cookie))['team_chat_error'];
  };
  t.equal(await outcome({ error: 'access_denied' }), 'access_denied');
  t.equal(await outcome({ error: '<script>' }), 'provider_refused');
  t.equal(await outcome({ code: 'made-up' }), 'provider_refused');
  const answers: [body: unknown, status: number, error: string][] = [
    [{}, 500, 'provider_unavailable'],
    [{ ok: false, error: 'ratelimited' }, 429, 'provider_unavailable'],
    [{ ok: true }, 200, 'provider_refused'],
    ['x', 200, 'provider_refused'],
    [
      { ok: true, incoming_webhook: { channel: '#ops', url: 'https://evil.example/services/T/B/x' } },
      200,
      'provider_refused',
    ],
  ];
  for (const [body, status, error] of answers) {
    chat.trouble = { status, body };
    t.equal(await outcome({}), error, JSON.stringify(body));
  }
});

void t.test('the plan bounds what is made', async (t) => {
  const { begin, back, chat, ada, api } = await world(t, 'free');
  for (const [channel, settings] of [
    ['webhook', { destinations: [{ key: 'a', name: 'a', url: 'https://example.com/' }] }],
    ['email', {}],
  ] as const) {
    const body = { channel, settings };
    const answer = await api.call('POST', '/api/v1/alert-channel-configs', { token: ada.accessToken, body });
    t.equal(answer.status, 201, answer.text);
  }
  const made = await api.call('GET', '/api/v1/alert-channel-configs', { token: ada.accessToken });
  t.equal(made.body['total'], 2);
  const begun = await begin(ada);
  const result = await back(chat.consent(begun.url, '#ops'), begun.cookie);
  t.same(result, { team_chat_error: 'too_many_channels' });
});

void t.test('where it is not set up it does not exist, and tokens of machines do not begin it', async (t) => {
  const { api, ada } = await world(t);
  const made = await api.call('POST', '/api/v1/auth/tokens', { token: ada.accessToken, body: { name: 'ci' } });
  t.equal((await api.call('GET', path, { token: String(made.body['token']) })).status, 403);
  const none = await testApi(t, {
    database: api.database,
    capabilities: [authCapability, teamChatCapability],
    context: { sealer: api.context.sealer },
  });
  t.equal((await none.call('GET', path, { token: ada.accessToken })).status, 404);
  t.equal((await none.call('GET', `${path}/callback?state=x`)).status, 404);
});
