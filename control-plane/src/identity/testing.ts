import { randomBytes } from 'node:crypto';
import { quietLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import { request } from 'undici';
import type { Dispatcher } from 'undici';
import type { Capability } from '../capability.ts';
import type { Context } from '../context.ts';
import { createSealer } from '../platform/crypto/seal.ts';
import type { Database } from '../platform/database/pools.ts';
import { createOutboundClients } from '../platform/outbound-http/index.ts';
import { testDatabase } from '../platform/database/testing.ts';
import type { Route } from '../platform/http/handler.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import type { MappedHosts } from '../platform/http/mapped-hosts.ts';
import type { PreparedAnswers } from '../platform/http/prepared/before-routes.ts';
import type { HttpLimits } from '../platform/http/server.ts';
import { createRequestGuards } from './access/index.ts';
import { accountsCapability } from './accounts/index.ts';
import { apiKeysCapability } from './api-keys/index.ts';
import { auditCapability } from './audit/index.ts';
import { authCapability, createPasswordHasher, setPasswordHasher } from './auth/index.ts';
import { invitePageCapability } from './invite-page/index.ts';
import { testLimits } from '../testing/limits.ts';
import { accessTokensCapability } from './tokens/index.ts';
import { signInCapability } from './sign-in/index.ts';
import { workspacesCapability } from './workspaces/index.ts';

export type TestApiOptions = {
  readonly context?: Partial<Context>;
  /** In place of a fresh one. */
  readonly database?: Database;
  readonly capabilities?: readonly Capability<Context>[];
  /** Beside those of the capabilities. */
  readonly routes?: (context: Context) => readonly Route[];
  /** Asked before the routes. */
  readonly prepared?: (context: Context) => PreparedAnswers;
  readonly mappedHosts?: (context: Context) => MappedHosts;
  readonly limits?: Partial<HttpLimits>;
  readonly corsOrigins?: readonly string[];
  /** In place of loopback, which lets calls come from anywhere. */
  readonly trustedProxies?: readonly string[];
  /** Passwords are hashed as they are outside of tests, for what is measured or limited by it. */
  readonly hashesAtFullCost?: boolean;
};

/** What a test has unless it names others. */
export const identityCapabilities: readonly Capability<Context>[] = [
  authCapability,
  accountsCapability,
  apiKeysCapability,
  accessTokensCapability,
  auditCapability,
  workspacesCapability,
  signInCapability,
  invitePageCapability,
];

/** A twentieth of the usual work, since nearly every test makes accounts. */
const quickHashKib = 1_024;

export type TestCall = {
  readonly body?: unknown;
  readonly token?: string | undefined;
  readonly key?: string;
  /** The client's address; a new one for each call where it is left out, so that limits per address do not meet. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type TestAnswer = {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; empty for an empty body and for another type. */
  readonly body: Record<string, unknown>;
  /** As it came, in UTF-8. */
  readonly text: string;
};

export type TestApi = {
  readonly url: string;
  readonly port: number;
  readonly app: Awaited<ReturnType<typeof buildHttpServer>>;
  readonly context: Context;
  readonly database: Database;
  readonly call: (method: string, path: string, options?: TestCall) => Promise<TestAnswer>;
  /** Registers an account and logs in. */
  readonly account: (email: string, options?: { password?: string; setupToken?: string }) => Promise<TestAccount>;
};

export type TestAccount = {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly accessToken: string;
  readonly refreshToken: string;
};

/** For tests: the API on a real port over a database of its own; loopback is a trusted proxy, so calls may come from anywhere. */
export async function testApi(t: TestContext, options: TestApiOptions = {}): Promise<TestApi> {
  const database = options.database ?? (await testDatabase(t)).database;
  const context = testContext(database, options.context ?? {});
  if (options.hashesAtFullCost !== true) setPasswordHasher(context, createPasswordHasher({ memoryKib: quickHashKib }));
  const capabilities = options.capabilities ?? identityCapabilities;
  const routes = [
    ...capabilities.flatMap((capability) => capability.routes?.(context) ?? []),
    ...(options.routes?.(context) ?? []),
  ];
  const app = await buildHttpServer(routes, {
    log: context.log,
    publicUrl: context.publicUrl,
    trustedProxies: options.trustedProxies ?? ['127.0.0.1/32'],
    corsOrigins: options.corsOrigins,
    ...createRequestGuards(context),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.prepared === undefined ? {} : { prepared: options.prepared(context) }),
    ...(options.mappedHosts === undefined ? {} : { mappedHosts: options.mappedHosts(context) }),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  const call = caller(url);
  return { url, port, app, context, database, call, account: (email, more) => makeAccount(call, email, more) };
}

/** A context of a process that runs alone; the broker is absent unless given. */
export function testContext(database: Database, more: Partial<Context>): Context {
  return {
    database,
    get bus(): Context['bus'] {
      throw new Error('this test has no broker');
    },
    sealer: createSealer(randomBytes(32)),
    mailer: { send: async () => undefined },
    log: quietLog,
    replica: 'test',
    now: Date.now,
    publicUrl: 'http://127.0.0.1',
    shards: 1,
    limits: testLimits,
    registration: 'open',
    signIn: { identityProviders: {} },
    defaultPlan: 'self_hosted',
    isPublished: false,
    needsSetupToken: () => false,
    addresses: { session: '127.0.0.1:1', enrolment: '127.0.0.1:1', broker: '127.0.0.1:1' },
    listen: { grpcHost: '127.0.0.1', grpcPort: 0, enrolmentPort: 0 },
    deniedListeners: () => [],
    allowedPrivateTargets: [],
    administratorPrivateTargets: [],
    allowedPrivateHooks: [],
    canaries: [],
    outbound: createOutboundClients({
      allowedPrivateTargets: more.allowedPrivateHooks ?? [],
      deniedListeners: more.deniedListeners ?? (() => []),
      now: more.now ?? Date.now,
      version: '0.0.0',
    }),
    deliveryMetrics: { tried: () => undefined, told: () => undefined },
    channels: { baseUrls: {}, hasMailServer: true, hasTeamChatApp: false },
    version: '0.0.0',
    ...more,
  };
}

let lastAddress = 0;

function nextAddress(): string {
  lastAddress += 1;
  return `198.18.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
}

function caller(url: string): TestApi['call'] {
  return async (method, path, options = {}) => {
    const headers: Record<string, string> = { 'x-forwarded-for': options.from ?? nextAddress(), ...options.headers };
    if (options.token !== undefined) headers['authorization'] = `Bearer ${options.token}`;
    if (options.key !== undefined) headers['x-api-key'] = options.key;
    if (options.body !== undefined) headers['content-type'] ??= 'application/json';
    const answer = await request(url + path, {
      method,
      headers: { accept: '*/*', 'user-agent': 'node', ...headers },
      ...(options.body === undefined
        ? {}
        : { body: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
    });
    const answered = headersOf(answer.headers);
    const type = answered.get('content-type') ?? '';
    const text = type.startsWith('text/event-stream') ? await firstEvent(answer.body) : await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answered,
      body: text !== '' && /[/+]json\b/.test(type) ? (JSON.parse(text) as Record<string, unknown>) : {},
      text,
    };
  };
}

function headersOf(raw: Dispatcher.ResponseData['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}

/** What a stream begins with, up to the first blank line behind an event; then it is left. */
async function firstEvent(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (/^event: .*\n(?:.+\n)*\n/m.test(text)) break;
  }
  return text;
}

async function makeAccount(
  call: TestApi['call'],
  email: string,
  { password = 'a rather long phrase 7', setupToken }: { password?: string; setupToken?: string } = {},
): Promise<TestAccount> {
  const registered = await call('POST', '/api/v1/auth/register', {
    body: { email, password, ...(setupToken === undefined ? {} : { setup_token: setupToken }) },
  });
  if (registered.status !== 201) throw new Error(`register: ${registered.status} ${JSON.stringify(registered.body)}`);
  const login = await call('POST', '/api/v1/auth/login', { body: { email, password } });
  if (login.status !== 200) throw new Error(`login: ${login.status} ${JSON.stringify(login.body)}`);
  return {
    id: Number(registered.body['id']),
    email,
    password,
    accessToken: String(login.body['access_token']),
    refreshToken: String(login.body['refresh_token']),
  };
}
