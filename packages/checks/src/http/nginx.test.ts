import t from 'tap';
import { runCheck } from '../run.ts';
import { issue } from '../testing/certificates.ts';
import { testContext } from '../testing/context.ts';
import { startNginx } from '../testing/servers/nginx.ts';

void t.test(
  'nginx is up, refuses a wrong password and a missing certificate, and is down when it is stopped',
  async (t) => {
    const authority = await issue({ name: 'Authority', authority: true });
    const own = await issue({ name: 'server', addresses: ['127.0.0.1'], by: authority });
    const client = await issue({ name: 'client', by: authority });
    const nginx = await startNginx(t, { certificate: own, clientAuthority: authority.cert });
    if (nginx === undefined) return;
    const check = (path: string, settings: object = {}) =>
      runCheck('http', { url: `http://127.0.0.1:${nginx.port}${path}` }, settings, testContext());
    const safely = (settings: object) => runCheck('https', { url: nginx.secureUrl }, settings, testContext());

    t.equal(
      (await check('/index', { json_query: { path: '$.status', equals: 'up' }, max_body_bytes: 100 })).outcome,
      'ok',
    );
    const moved = { expected_final_url: { pattern: '/index$' }, expected_http_version: '1.1' };
    t.equal((await check('/moved', moved)).outcome, 'ok');
    const user = { username: 'user', password: 'right' };
    t.equal((await check('/in/page', { ...user, keyword: 'inside' })).outcome, 'ok');
    const wrong = { outcome: 'fail', source: 'target', code: 'http_status', evidence: { status: 401 } };
    t.match(await check('/in/page', { ...user, password: 'wrong' }), wrong);
    t.match(await check('/in/page', { ...user, auth_scheme: 'digest' }), { code: 'http_challenge' });
    t.match(await check('/missing'), { code: 'http_status', evidence: { status: 404 } });

    const shown = { ca_certificates: authority.cert, client_certificate: client.cert, client_key: client.key };
    t.equal((await safely(shown)).outcome, 'ok');
    t.match(await safely({ ca_certificates: authority.cert }), { code: 'http_status', evidence: { status: 400 } });

    await nginx.stop();
    t.match(await check('/index'), { outcome: 'fail', source: 'target', code: 'connect_refused' });
  },
);
