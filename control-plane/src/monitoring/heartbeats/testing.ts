import type { TestContext } from '@parallax/testkit';
import { auditCapability } from '../../identity/audit/index.ts';
import { authCapability } from '../../identity/auth/index.ts';
import { signInCapability } from '../../identity/sign-in/index.ts';
import { testApi } from '../../identity/testing.ts';
import { accessTokensCapability } from '../../identity/tokens/index.ts';
import type { TestAnswer, TestApi, TestApiOptions } from '../../identity/testing.ts';
import { workspacesCapability } from '../../identity/workspaces/index.ts';
import { testBus } from '../testing.ts';
import { heartbeatsCapability } from './index.ts';

/** Text as it came, and what it was answered with. */
export type Pinged = { readonly status: number; readonly text: string; readonly headers: Headers };

export type HeartbeatsApi = TestApi & {
  readonly token: string;
  readonly workspaceId: number;
  readonly pingKey: string;
  /** Calls as the account; fails for what is no success. */
  readonly make: (method: string, path: string, body?: unknown) => Promise<TestAnswer>;
  readonly heartbeat: (fields?: Readonly<Record<string, unknown>>) => Promise<Record<string, unknown>>;
  /** Sends a signal from an address of its own, since what is unknown is counted by that. */
  readonly ping: (path: string, init?: RequestInit) => Promise<Pinged>;
  /** What was told of a heartbeat, oldest first. */
  readonly told: (id: unknown) => Promise<readonly { kind: string; payload: Record<string, unknown> }[]>;
  readonly pings: (id: unknown) => Promise<readonly Record<string, unknown>[]>;
};

let lastAddress = 0;

/** For tests: the API with heartbeats, and an account with a workspace. Nothing looks at deadlines unless the test does. */
export async function heartbeatsApi(t: TestContext, options: TestApiOptions = {}): Promise<HeartbeatsApi> {
  const api = await testApi(t, {
    capabilities: [
      authCapability,
      auditCapability,
      accessTokensCapability,
      workspacesCapability,
      signInCapability,
      heartbeatsCapability,
    ],
    ...options,
    context: { bus: testBus().bus, ...options.context },
  });
  const { accessToken: token } = await api.account('ada@example.com');
  const make: HeartbeatsApi['make'] = async (method, path, body) => {
    const answer = await api.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const workspace = (await make('GET', '/api/v1/workspaces/default')).body as { id: number; ping_key: string };
  let made = 0;
  return {
    ...api,
    token,
    workspaceId: workspace.id,
    pingKey: workspace.ping_key,
    make,
    heartbeat: async (fields = {}) => {
      made += 1;
      const body = { name: `job ${made}`, ...fields };
      return (await make('POST', `/api/v1/heartbeats?workspace_id=${workspace.id}`, body)).body;
    },
    ping: async (path, init = {}) => {
      lastAddress += 1;
      const from = `198.19.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
      const headers = { 'x-forwarded-for': from, ...(init.headers as Record<string, string> | undefined) };
      const answer = await fetch(api.url + path, { ...init, headers });
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    },
    told: async (id) =>
      (
        await api.database.raw.query<{ kind: string; payload: Record<string, unknown> }>(
          `select kind, payload from outbox where key = 'heartbeat:' || $1::text order by id`,
          [id],
        )
      ).rows,
    pings: async (id) =>
      (await make('GET', `/api/v1/heartbeats/${String(id)}/pings?page_size=100`)).body['pings'] as Record<
        string,
        unknown
      >[],
  };
}
