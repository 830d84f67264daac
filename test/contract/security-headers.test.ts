import t from 'tap';
import { capabilities } from '../../control-plane/src/capabilities.ts';
import { securityHeaders } from '../../control-plane/src/platform/http/security-headers.ts';
import type { Test } from 'tap';
import { openWorld } from './world.ts';

t.test('every answer of every route has the security headers, errors included', { timeout: 580_000 }, async (t) => {
  const world = await openWorld(t);
  const id = await world.monitor();
  const contracts = capabilities
    .flatMap((capability) => capability.routes?.(world.context) ?? [])
    .map((route) => route.contract);
  const pages = new Set(
    contracts
      .filter(({ success }) => success.contentType?.startsWith('text/html') === true)
      .map((contract) => contract.path.replaceAll(/:[a-z_]+/g, '1')),
  );
  t.ok(pages.size >= 3, `${pages.size} pages`);
  const statuses = new Set<number>();
  const look = async (method: string, target: string, credentials: { token?: string; body?: unknown } = {}) => {
    const answer = await world.call(method, target, credentials);
    statuses.add(answer.status);
    const name = `${method} ${target} ${answer.status}`;
    const [path = ''] = target.split('?', 1);
    const { 'content-security-policy': policy, ...others } = securityHeaders(path, false);
    const missing = Object.entries(others).filter(([header, value]) => answer.headers.get(header) !== value);
    t.same(missing, [], name);
    const given = answer.headers.get('content-security-policy') ?? '';
    // A link that leads nowhere is told of by a page too; other errors are none.
    const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true;
    if (pages.has(path) && (answer.status === 200 || (answer.status === 404 && isPage))) keepsToItself(t, given, name);
    else t.equal(given, policy, name);
    t.equal(answer.headers.get('cache-control'), 'no-store', name);
    t.match(answer.headers.get('x-request-id'), /^[0-9a-f-]{36}$/, name);
    t.equal(answer.headers.get('x-powered-by'), null, name);
    t.equal(answer.headers.get('server'), null, name);
  };
  for (const { method, path } of contracts) {
    const target = path.replace(':monitor_id', String(id)).replaceAll(/:[a-z_]+/g, '1');
    await look(method, target);
    await look('OPTIONS', target);
    await look('HEAD', target, { token: 'x' });
    // Whatever ends the session or the account of the others would change what is seen after it.
    if (method === 'GET') await look(method, target, { token: world.token });
    else await look(method, `${target}?page=x`, { token: world.token, body: '{"a":1,"a":2}' });
  }
  await look('GET', '/nothing');
  await look('GET', '/%zz');
  await look('GET', `/${'x'.repeat(3_000)}`);
  await look('BREW', '/version');
  for (const status of [200, 204, 401, 404, 405, 414, 422]) t.ok(statuses.has(status), `${status} was seen`);
});

/** A page runs and applies what it consists of, named by its digest, and nothing else; it frames nothing and is framed by nobody. */
function keepsToItself(t: Test, policy: string, name: string): void {
  const allowed = new Map(policy.split('; ').map((part) => [part.split(' ', 1)[0] ?? '', part.split(' ').slice(1)]));
  for (const directive of ['default-src', 'base-uri', 'frame-ancestors']) {
    t.same(allowed.get(directive), ["'none'"], `${name}: ${directive}`);
  }
  for (const directive of ['script-src', 'style-src']) {
    const sources = allowed.get(directive);
    // What is not named is what `default-src` says: none.
    t.ok(
      sources === undefined || sources.every((source) => /^'sha256-[\w+/=]{44}'$/.test(source)),
      `${name}: ${directive}`,
    );
  }
  t.same(
    [...allowed.values()].flat().filter((source) => !/^'(none|self|sha256-.*)'$/.test(source)),
    [],
    name,
  );
}
