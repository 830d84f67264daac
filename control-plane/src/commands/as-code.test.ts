import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { addProbe } from '../monitoring/testing.ts';
import { commandsStage } from '../testing/commands.ts';

const { api, run, file, folder, token: home } = await commandsStage(t);
await addProbe(api.database, 'helsinki-1', 'eu-north');
await addProbe(api.database, 'dallas-1', 'us-south');

/** The API behind a server that does something before the first request with a method goes on. */
async function before(method: string, act: () => Promise<void>): Promise<string> {
  let isDone = false;
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method === method && !isDone) {
        isDone = true;
        await act();
      }
      const body = await text(request);
      const { authorization = '', 'if-match': ifMatch } = request.headers;
      const answer = await fetch(api.url + (request.url ?? ''), {
        method: request.method ?? 'GET',
        headers: {
          authorization,
          ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
          ...(body === '' ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === '' ? {} : { body }),
      });
      const type = answer.headers.get('content-type') ?? 'application/json';
      response.writeHead(answer.status, { 'content-type': type }).end(await answer.text());
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = server.address();
  return `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`;
}

const example =
  /```yaml\n([^]*?)```/.exec(readFileSync(path.join(import.meta.dirname, '../../../docs/as-code.md'), 'utf8'))?.[1] ??
  '';

void t.test(
  'the example of the documentation is applied, and a second time there is nothing to do',
  { timeout: 150_000 },
  async (t) => {
    const shop = file('shop.yaml', example);
    const secret = { SHOP_PASSWORD: 'open-sesame-42' };
    const missing = await run(['apply', shop, '--plan']);
    t.match(missing, { code: 1, err: /shop\.yaml:\d+:\d+: password: the variable SHOP_PASSWORD is not set/ });
    const planned = await run(['apply', shop, '--plan'], secret);
    t.match(planned, { code: 2, err: '', out: /^workspace .*\n\+ monitor "mail"\n/ });
    t.match(planned.out, /password: \(secret\) is set/);
    t.match(await run(['apply', shop], secret), { code: 1, err: /say --yes/ }, 'nobody is there to be asked');
    t.match((await api.call('GET', '/api/v1/monitors', { token: api.token })).body, { total: 0 }, 'nothing was done');
    const applied = await run(['apply', shop, '--yes'], secret);
    t.match(applied, { code: 0, err: '', out: /created monitor "shop"\n[^]*created monitor group "storefront"\n$/ });
    t.match(await run(['apply', shop, '--plan'], secret), { code: 0, out: /nothing to do: 4 unchanged/ });
    t.match(await run(['apply', shop, '--yes'], secret), { code: 0, out: /nothing to do/ });
    t.notMatch(planned.out + applied.out, 'open-sesame');
    const list = await api.call('GET', '/api/v1/monitors?sort=name', { token: api.token });
    t.match(list.body, {
      monitors: [{ name: 'all' }, { name: 'mail' }, { name: 'shop', settings: { has_password: true }, version: 1 }],
    });
  },
);

void t.test('an export is the same twice, has no secret, and applies as it is', async (t) => {
  const first = await run(['export']);
  t.match(first, { code: 0, err: '' });
  t.match(first.out, /password:\n +kept: true/);
  t.notMatch(first.out, /open-sesame|\bid:|version:/);
  const out = path.join(folder, 'out.yaml');
  t.match(await run(['export', '--output', out]), { code: 0, out: '' });
  t.equal(readFileSync(out, 'utf8'), first.out);
  t.match(await run(['apply', out, '--plan', '--prune']), { code: 0, out: /nothing to do/ });
});

void t.test('a token may stand in a file, and never on the command line', async (t) => {
  const token = file('token', `${home}\n`);
  t.match(await run(['export', '--token-file', token], { PARALLAX_TOKEN: '' }), { code: 0 });
  t.match(await run(['export'], { PARALLAX_TOKEN: '' }), { code: 1, err: /a token is needed/ });
  const wrong = await run(['export'], { PARALLAX_TOKEN: 'plx_wrong' });
  t.match(wrong, { code: 1, err: /401/ });
  t.notMatch(wrong.err, 'plx_wrong');
  t.match(await run(['export', '--workspace', 'nowhere']), { code: 1, err: /no workspace "nowhere"/ });
  const key = await api.call('POST', '/api/v1/api-keys', { token: api.token, body: { name: 'k' } });
  const asKey = { PARALLAX_TOKEN: String(key.body['key']) };
  t.match(await run(['export'], asKey), { code: 1, err: /by number/ });
  t.match(await run(['export', '--workspace', String(api.workspaceId)], asKey), {
    code: 0,
    err: /groups are left out/,
  });
});

void t.test('what somebody else changes in between is refused and told', async (t) => {
  const out = path.join(folder, 'out.yaml');
  const { monitors } = (await api.call('GET', '/api/v1/monitors?sort=name', { token: api.token })).body as {
    monitors: { id: number; name: string }[];
  };
  const shop = monitors.find(({ name }) => name === 'shop');
  // Somebody else who is quicker than any person: before the first change arrives, another monitor is changed.
  const url = await before('PATCH', async () => {
    const body = { description: 'by somebody else' };
    await api.call('PATCH', `/api/v1/monitors/${shop?.id}`, { token: api.token, body });
  });
  const changed = file(
    'changed.yaml',
    readFileSync(out, 'utf8').replaceAll(/interval_seconds: \d+/g, 'interval_seconds: 1234'),
  );
  const refused = await run(['apply', changed, '--yes'], {}, url);
  t.equal(refused.code, 1);
  t.match(refused.out, /changed monitor "mail"\n$/, 'what was done is told');
  t.match(
    refused.err,
    /monitor "shop": [^]*412[^]*somebody changed it[^]*description: .* -> "by somebody else"[^]*1 of 3 done/,
  );
  const now = await api.call('GET', `/api/v1/monitors/${shop?.id}`, { token: api.token });
  t.match(now.body, { description: 'by somebody else', interval_seconds: 60 }, 'and it is as somebody else left it');
});

void t.test('--prune removes what no file names', async (t) => {
  const only = file('only.yaml', 'parallax: 1\nmonitors:\n  - { name: mail, url: "tcp://mail.example.com:25" }\n');
  t.match(await run(['apply', only, '--plan', '--prune']), { code: 2, out: /- monitor "shop", with its results/ });
  t.match(await run(['apply', only, '--yes', '--prune']), { code: 0, out: /removed monitor "shop"/ });
  t.match(await run(['apply', only, '--yes', '--prune']), { code: 0, out: /nothing to do/ });
  t.match((await api.call('GET', '/api/v1/monitor-groups', { token: api.token })).body, {
    monitor_groups: [{ name: 'storefront' }],
  });
});
