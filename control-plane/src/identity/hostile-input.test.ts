import { problems } from '@parallax/api-contract';
import type { ProblemCode } from '@parallax/api-contract';
import t from 'tap';
import { hostileRequests } from '../platform/http/testing.ts';
import type { HostileRequest } from '../platform/http/testing.ts';
import { apiKeysCapability } from './api-keys/index.ts';
import { authCapability } from './auth/index.ts';
import { testApi } from './testing.ts';
import { workspacesCapability } from './workspaces/index.ts';

const valid: Readonly<Record<string, Record<string, unknown>>> = {
  '/api/v1/auth/register': { email: 'x@example.com', password: 'passwort' },
  '/api/v1/auth/login': { email: 'x@example.com', password: 'x' },
  '/api/v1/auth/refresh': { refresh_token: 'plr_x' },
  '/api/v1/api-keys': { name: 'x' },
};

void t.test('nothing that comes in is our fault', async (t) => {
  const api = await testApi(t);
  const { accessToken } = await api.account('ada@example.com');
  const routes = [authCapability, apiKeysCapability, workspacesCapability].flatMap(
    (capability) => capability.routes?.(api.context) ?? [],
  );
  const statuses = new Map<number, number>();
  const send = async (hostile: HostileRequest, token: string): Promise<void> => {
    const forwarded = hostile.headers['x-forwarded-for'];
    const answer = await api.call(hostile.method, hostile.target, {
      ...(hostile.body === undefined ? {} : { body: hostile.body }),
      headers: hostile.headers,
      token,
      ...(forwarded === undefined ? {} : { from: forwarded }),
    });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status < 400) return;
    const code = answer.body['code'] as ProblemCode;
    const isProblem =
      answer.headers.get('content-type') === 'application/problem+json' && problems[code]?.status === answer.status;
    // One assertion for each fault and not for each request, of which there are thousands.
    if (answer.status >= 500 || !isProblem) t.fail(`${hostile.name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    const text = JSON.stringify(answer.body);
    if (/node_modules|\.ts:\d|select |insert |sqlstate|slonik/i.test(text)) t.fail(`${hostile.name} tells: ${text}`);
  };
  for (const { contract } of routes) {
    // The credentials must outlive the table.
    const token = contract.path.includes('logout') ? 'x' : accessToken;
    const waiting = [...hostileRequests(contract, valid[contract.path])];
    const worker = async (): Promise<void> => {
      for (let hostile = waiting.pop(); hostile !== undefined; hostile = waiting.pop()) await send(hostile, token);
    };
    await Promise.all(Array.from({ length: 12 }, worker));
  }
  const total = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  t.ok(total > 500, `${total} requests: ${JSON.stringify(Object.fromEntries(statuses))}`);
  t.equal((await api.call('GET', '/api/v1/auth/me', { token: accessToken })).status, 200, 'and it still works');
});
