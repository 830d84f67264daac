import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from '@parallax/testkit';

/*
 * For tests: Slack's page of consent and `oauth.v2.access`. Written from https://docs.slack.dev/authentication/installing-with-oauth and
 * https://docs.slack.dev/reference/methods/oauth.v2.access. Checked on 2026-11-23 against libraries that quote the latter: parameters and names of errors
 * (slack-chat-api, SlackWeb.Oauth.V2), and against a copy of Slack's page on incoming webhooks: `incoming_webhook` has url, channel, channel_id and configuration_url.
 */

export type TestTeamChat = {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Somebody opens the page of consent and chooses a room. @returns where the browser goes */
  readonly consent: (authorizationUrl: string, room: string) => URL;
  /** What is answered in place of the webhook. */
  trouble: { readonly status: number; readonly body: unknown } | undefined;
};

/** Starts it; it ends with the test. */
export async function testTeamChat(t: TestContext): Promise<TestTeamChat> {
  const codes = new Map<string, { readonly room: string; readonly redirectUri: string }>();
  const clientId = '1234.5678';
  const clientSecret = 'secret-of-the-app';
  const exchange = (form: URLSearchParams): unknown => {
    const refused = (error: string) => ({ ok: false, error });
    if (form.get('client_id') !== clientId) return refused('invalid_client_id');
    if (form.get('client_secret') !== clientSecret) return refused('bad_client_secret');
    const code = form.get('code') ?? '';
    const found = codes.get(code);
    if (found === undefined) return refused('invalid_code');
    codes.delete(code);
    if (form.get('redirect_uri') !== found.redirectUri) return refused('bad_redirect_uri');
    return {
      ok: true,
      app_id: 'A1',
      access_token: 'xoxb-must-not-be-kept',
      token_type: 'bot',
      scope: 'incoming-webhook',
      bot_user_id: 'U1',
      team: { id: 'T1', name: 'Acme' },
      enterprise: null,
      is_enterprise_install: false,
      authed_user: { id: 'U2' },
      incoming_webhook: {
        channel: found.room,
        channel_id: 'C1',
        configuration_url: `${chat.url}/services/B1`,
        url: `${chat.url}/services/T1/B1/${found.room.replaceAll(/\W/g, '')}`,
      },
    };
  };
  const server = createServer((request, response) => {
    const reply = async (): Promise<void> => {
      const body = await text(request);
      const isMethod = request.method === 'POST' && request.url === '/api/oauth.v2.access';
      const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
      const answer =
        chat.trouble ??
        (isMethod && isForm
          ? { status: 200, body: exchange(new URLSearchParams(body)) }
          : { status: 404, body: { ok: false, error: 'unknown_method' } });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    };
    void reply();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const chat: TestTeamChat = {
    url: `http://127.0.0.1:${port}`,
    clientId,
    clientSecret,
    consent: (authorizationUrl, room) => {
      const { origin, pathname, searchParams } = new URL(authorizationUrl);
      if (origin !== chat.url || pathname !== '/oauth/v2/authorize')
        throw new Error(`not the page: ${authorizationUrl}`);
      if (searchParams.get('client_id') !== clientId) throw new Error('another app');
      if (searchParams.get('scope') !== 'incoming-webhook') throw new Error('another scope');
      const redirectUri = searchParams.get('redirect_uri') ?? '';
      const code = `code${codes.size}${Math.random().toString(36).slice(2)}`;
      codes.set(code, { room, redirectUri });
      const back = new URL(redirectUri);
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return back;
    },
    trouble: undefined,
  };
  return chat;
}
