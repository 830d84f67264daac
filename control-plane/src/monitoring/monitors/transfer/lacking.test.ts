import t from 'tap';
import { monitorsApi } from '../../testing.ts';
import { imported } from './testing.ts';

void t.test(
  'a monitor that came without a secret is resumed when it has what its check needs, and not before',
  async (t) => {
    const api = await monitorsApi(t);
    const file =
      'url,protocol,interval_seconds,settings,has_password,has_secret,has_secret_headers\n' +
      'radius.example,radius,60,"{""username"":""u""}",true,true,\n' +
      'https://web.example/,https,60,,,,true\n' +
      'sftp.example,sftp,60,"{""username"":""u""}",true,,\n';
    const report = await imported(api, file);
    t.match(report, { created: 3 });
    const [radius = 0, web = 0, sftp = 0] = report.rows.map((row) => row.monitor_id ?? 0);
    const path = `/api/v1/monitors/${radius}`;
    const post = (what: string, body?: unknown) =>
      api.call('POST', what, { token: api.token, ...(body === undefined ? {} : { body }) });
    const patch = (body: object) => api.call('PATCH', path, { token: api.token, body });
    const refused = await post(`${path}/resume`);
    t.match(refused, {
      status: 422,
      body: {
        code: 'secret_missing',
        detail: /monitor \d+ lacks a secret .*asked with a secret.*settings\.password, settings\.secret; PATCH/,
        errors: [
          { in: 'body', path: '/settings/password', code: 'secret_missing' },
          { path: '/settings/secret', code: 'secret_missing' },
        ],
      },
    });
    t.match((await api.call('GET', path, { token: api.token })).body, { is_active: false, version: 1 });
    t.match(await patch({ is_active: true }), { status: 422, body: { code: 'invalid_input' } });

    const several = await post('/api/v1/monitors/bulk', { action: 'resume', monitor_ids: [sftp, radius, web, 99] });
    t.match(several.body, {
      ok: 1,
      failed: 2,
      not_found: 1,
      monitors: [
        { monitor_id: sftp, result: 'failed', changed: false, code: 'secret_missing', detail: /PATCH/ },
        { monitor_id: radius, result: 'failed', code: 'secret_missing' },
        { monitor_id: web, result: 'ok', changed: true },
        { monitor_id: 99, result: 'not_found' },
      ],
    });
    t.match(
      (await api.call('GET', `/api/v1/monitors/${web}`, { token: api.token })).body,
      { is_active: true },
      'one whose check is valid without it is resumed: whoever does may know that it is not asked for',
    );
    t.match(await post(`/api/v1/monitors/${web}/resume`), { status: 200 }, 'what runs is not judged again');

    t.equal((await patch({ settings: { password: 'p', secret: 's' } })).status, 200);
    t.match(await post(`${path}/resume`), { status: 200, body: { is_active: true } });
    t.match(
      await api.call('PATCH', `/api/v1/monitors/${sftp}`, {
        token: api.token,
        body: { settings: { password: 'p' }, is_active: true },
      }),
      { status: 200, body: { is_active: true } },
      'both at once',
    );
  },
);
