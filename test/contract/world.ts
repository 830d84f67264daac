import type { TestContext } from '@parallax/testkit';
import { dnsTarget, natsServer, quietLog } from '@parallax/testkit';
import { createServer } from 'node:http';
import { capabilities } from '../../control-plane/src/capabilities.ts';
import { botToken } from '../../control-plane/src/identity/sign-in/messenger/testing.ts';
import { testBotApi } from '../../control-plane/src/response/messenger/testing/bot-api.ts';
import { openidProvider } from '../../control-plane/src/identity/sign-in/testing/openid-provider.ts';
import { testApi } from '../../control-plane/src/identity/testing.ts';
import type { TestAnswer, TestApi, TestCall } from '../../control-plane/src/identity/testing.ts';
import type { Database } from '../../control-plane/src/platform/database/pools.ts';
import { connectBus } from '../../control-plane/src/platform/bus/nats-bus.ts';
import { undocumentedAnswer } from './document.ts';
import { readableFault } from './readable.ts';
import { refusalFault } from './refusals.ts';

/** The whole API in one process over a real database and a real broker, with one account and what belongs to it. */
export type World = TestApi & {
  readonly token: string;
  readonly apiKey: string;
  readonly workspaceId: number;
  /** A web server that answers 200. */
  readonly target: string;
  /** Calls as the account and expects success. */
  readonly make: (method: string, path: string, body?: unknown) => Promise<TestAnswer>;
  readonly monitor: () => Promise<number>;
  /** Other accounts have prepared calls of their own, which a recipe must leave as they are. */
  readonly keepsOthers?: boolean;
  /** Puts a TXT record into the DNS that the API asks. */
  readonly txt: (name: string, data: string) => void;
  /** Something new each time, for names and addresses. */
  readonly unique: () => number;
};

/**
 * @param options.administrator the address of an account that is made before, and so administers the installation in place of the one that is tried
 * @param options.publicUrl by a name where passkeys are used, which belong to one
 */
export async function openWorld(
  t: TestContext,
  options: { readonly database?: Database; readonly administrator?: string; readonly publicUrl?: string } = {},
): Promise<World> {
  const nats = await natsServer(t);
  const bus = await connectBus({ servers: nats.url, name: 'contract', log: quietLog });
  t.teardown(() => bus.close());
  const { settings: provider } = await openidProvider(t, ['http://127.0.0.1/callback']);
  const dns = await dnsTarget(t);
  const records: { readonly type: 'TXT'; readonly name: string; readonly data: string }[] = [];
  const messenger = await testBotApi(t, botToken);
  const teamChatApp = { clientId: 'contract', clientSecret: 'secret', url: 'https://team-chat.invalid' };
  const channels = {
    baseUrls: { messenger: messenger.baseUrl },
    hasMailServer: true,
    hasTeamChatApp: true,
    teamChatApp,
  };
  const signIn = { identityProviders: { a: provider, b: provider }, messengerBotToken: botToken };
  const api = await testApi(t, {
    capabilities,
    context: {
      bus,
      allowedPrivateTargets: ['127.0.0.0/8'],
      allowedPrivateHooks: ['127.0.0.0/8'],
      signIn,
      channels,
      dnsServers: [`${dns.host}:${dns.port}`],
      ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    },
    ...(options.database === undefined ? {} : { database: options.database }),
  });
  const call: TestApi['call'] = async (...request) => {
    const answer = await api.call(...request);
    const [method, path] = request;
    const fault =
      refusalFault(answer.status, answer.body) ??
      readableFault(path, answer) ??
      undocumentedAnswer(method, path, answer);
    if (fault !== undefined) throw new Error(`${request[0]} ${request[1]}: ${fault}`);
    return answer;
  };
  if (options.administrator !== undefined) await api.account(options.administrator);
  const account = await api.account('contract@example.com');
  const token = account.accessToken;
  const make = async (method: string, path: string, body?: unknown): Promise<TestAnswer> => {
    const sent: TestCall = { token, ...(body === undefined ? {} : { body }) };
    const answer = await call(method, path, sent);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const workspaces = (await make('GET', '/api/v1/workspaces')).body['workspaces'] as { id: number }[];
  const workspaceId = workspaces[0]?.id ?? 0;
  const apiKey = String((await make('POST', '/api/v1/api-keys', { name: 'contract' })).body['key']);
  const target = await webServer(t);
  let counter = 0;
  const unique = () => (counter += 1);
  return {
    ...api,
    call,
    token,
    apiKey,
    workspaceId,
    target,
    make,
    txt: (name, data) => {
      records.push({ type: 'TXT', name, data });
      dns.behave({ kind: 'records', records });
    },
    unique,
    monitor: async () => {
      const made = await make('POST', '/api/v1/monitors', {
        workspace_id: workspaceId,
        name: `contract ${unique()}`,
        url: target,
      });
      return Number(made.body['id']);
    },
  };
}

async function webServer(t: TestContext): Promise<string> {
  const server = createServer((_request, response) => response.end('ok'));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  );
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`;
}
