import t from 'tap';
import { commandsStage } from '../testing/commands.ts';

const { api, run, file, tokenOf } = await commandsStage(t);

const composed = `parallax: 1
monitors:
  - name: all
    protocol: group
    settings: { monitors: [web, site], minimum_up: 1 }
  - name: web
    protocol: group
    settings: { group: front }
  - name: site
    url: https://site.example.com/
  - name: orders
    protocol: api
    url: https://api.example.com/
    settings:
      variables: { user: watcher }
      secrets: { key: { from_env: API_KEY } }
      steps:
        - { name: log in, url: "/login?key={{key}}", extract: [{ name: token, from: json, path: $.token }] }
        - { name: orders, url: "/orders/{{user}}", headers: { Authorization: "Bearer {{token}}" } }
monitor_groups:
  - name: front
    monitors: [site]
`;

void t.test(
  'group monitors and steps of api checks are applied, by name and without secrets',
  { timeout: 110_000 },
  async (t) => {
    const account = await api.account('composed@example.com');
    const token = { PARALLAX_TOKEN: await tokenOf(account.accessToken) };
    const key = { ...token, API_KEY: 'open-sesame-43' };
    const whole = file('composed.yaml', composed);
    const applied = await run(['apply', whole, '--yes'], key);
    t.match(applied, { code: 0, err: '' });
    t.match(applied.out, /created monitor group "front"\ncreated monitor "web"\ncreated monitor "all"\n$/);
    t.match(await run(['apply', whole, '--plan', '--prune'], key), { code: 0, out: /nothing to do: 5 unchanged/ });
    const list = await api.call('GET', '/api/v1/monitors?sort=name', { token: account.accessToken });
    const [, orders, site, web] = (list.body as { monitors: { id: number; settings: unknown }[] }).monitors;
    t.match(list.body, {
      monitors: [
        { name: 'all', settings: { monitor_ids: [site?.id, web?.id], minimum_up: 1 }, version: 1 },
        { name: 'orders', settings: { has_secrets: true, steps: [{ name: 'log in' }, { method: 'GET' }] }, version: 1 },
        { name: 'site' },
        { name: 'web', settings: { group_id: /[0-9]+/ } },
      ],
    });
    const exported = await run(['export'], token);
    t.match(exported, { code: 0, out: /monitors:\n +- site\n +- web/ });
    t.match(exported.out, /settings:\n +group: front\n/);
    t.match(exported.out, /secrets:\n +kept: true/);
    t.notMatch(exported.out, /open-sesame|_ids?:|url: group/);
    const out = file('composed-out.yaml', exported.out);
    t.match(await run(['apply', out, '--plan', '--prune'], token), { code: 0, out: /nothing to do/ });
    const kept = file('kept.yaml', composed.replace('{ key: { from_env: API_KEY } }', '{ kept: true }'));
    t.match(await run(['apply', kept, '--plan'], token), { code: 0, out: /nothing to do/ }, 'a secret may be kept');
    t.match(await run(['apply', whole, '--yes', '--secrets'], key), {
      code: 0,
      out: /secrets: \(secret\) is sent anew/,
    });
    const led = file('led.yaml', composed.replace('"/login?', '"https://other.example.com/login?'));
    t.match(await run(['apply', led, '--plan'], key), {
      code: 2,
      out: /settings\.steps\[0\]\.url: "\/login.* ->\s+"https:\/\/other\.example\.com\/login.*\n +settings\.secrets: \(secret\)/,
    });
    t.match(orders?.settings, { variables: { user: 'watcher' } });

    const turned = composed
      .replace('{ monitors: [web, site], minimum_up: 1 }', '{ monitors: [site] }')
      .replace('{ group: front }', '{ monitors: [all] }');
    t.match(await run(['apply', file('turned.yaml', turned), '--yes'], key), {
      code: 0,
      out: /changed monitor "all"\nchanged monitor "web"\n$/,
    });
    const circle = file('circle.yaml', turned.replace('{ monitors: [site] }', '{ monitors: [web] }'));
    t.match(await run(['apply', circle, '--yes'], key), {
      code: 1,
      err: /circle\.yaml:\d+:\d+: a group monitor would contain itself: "all" → "web" → "all"/,
    });
  },
);
