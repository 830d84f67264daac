import { problemSchema } from '@parallax/api-contract';
import t from 'tap';
import { testApi } from '../testing.ts';
import type { TestApi } from '../testing.ts';

const own = 'https://console.example.com';

async function names(api: TestApi, method: string, path: string, headers: Record<string, string>) {
  const answer = await api.call(method, path, { headers });
  const cors = [...answer.headers].filter(([name]) => name.startsWith('access-control-'));
  return { answer, cors: Object.fromEntries(cors) };
}

void t.test('without origins in the settings no such header is ever sent', async (t) => {
  const api = await testApi(t);
  for (const [method, path] of [
    ['GET', '/version'],
    ['GET', '/api/v1/auth/me'],
    ['OPTIONS', '/api/v1/auth/me'],
    ['GET', '/nothing'],
  ] as const) {
    const headers = { origin: own, 'access-control-request-method': 'GET' };
    const { answer, cors } = await names(api, method, path, headers);
    t.same(cors, {}, `${method} ${path}`);
    t.equal(answer.headers.get('vary'), null);
  }
});

void t.test('exactly the given origins may read answers, errors included', async (t) => {
  const api = await testApi(t, { corsOrigins: [own, 'http://localhost:5173'] });
  for (const path of ['/api/v1/auth/me', '/nothing', '/api/v1/auth/login']) {
    for (const origin of [own, 'http://localhost:5173']) {
      const { answer, cors } = await names(api, 'GET', path, { origin });
      t.match(cors, {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': /\bRateLimit\b.*\bRetry-After\b/,
      });
      t.equal(answer.headers.get('vary'), 'Origin');
      t.ok(problemSchema.safeParse(answer.body).success);
    }
    for (const origin of [
      'https://console.example.com.evil.example',
      'https://evil.example',
      'http://console.example.com',
      'https://console.example.com:8443',
      'https://CONSOLE.example.com',
      'https://sub.console.example.com',
      'null',
      '*',
      `${own}/`,
      `${own}, https://evil.example`,
    ]) {
      const { answer, cors } = await names(api, 'GET', path, { origin });
      t.same(cors, {}, origin);
      t.equal(answer.headers.get('vary'), 'Origin', 'so that no cache gives it to another origin');
    }
    t.same((await names(api, 'GET', path, {})).cors, {}, 'nor without one');
  }
});

void t.test('a preflight is answered before any credentials are asked for', async (t) => {
  const api = await testApi(t, { corsOrigins: [own] });
  const preflight = {
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'authorization, x-evil',
  };
  const { answer, cors } = await names(api, 'OPTIONS', '/api/v1/auth/me', { ...preflight, origin: own });
  t.equal(answer.status, 204);
  t.equal(answer.text, '');
  t.match(cors, {
    'access-control-allow-origin': own,
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers': /^Authorization, Content-Type, .*X-API-Key, X-Invite-Token$/,
    'access-control-max-age': '600',
  });
  t.notMatch(cors['access-control-allow-headers'], /evil/, 'a list of ours, not what was asked for');
  t.equal(answer.headers.get('x-content-type-options'), 'nosniff', 'with the security headers');
  const foreign = await names(api, 'OPTIONS', '/api/v1/auth/me', { ...preflight, origin: 'https://evil.example' });
  t.same(foreign.cors, {});
  t.equal(foreign.answer.headers.get('allow'), 'GET, HEAD, PATCH, DELETE, OPTIONS');
  const plain = await names(api, 'OPTIONS', '/api/v1/auth/me', { origin: own });
  t.equal(plain.answer.status, 204);
  t.equal(
    plain.answer.headers.get('allow'),
    'GET, HEAD, PATCH, DELETE, OPTIONS',
    'an ordinary OPTIONS is answered as ever',
  );
  t.equal((await names(api, 'OPTIONS', '/nothing', { origin: own })).answer.status, 404);
});
