import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { addProbe } from '../monitoring/testing.ts';
import { commandsStage } from '../testing/commands.ts';

const { api, run, file, tokenOf } = await commandsStage(t);
await addProbe(api.database, 'helsinki-1', 'eu-north');
await addProbe(api.database, 'dallas-1', 'us-south');

const name = fc
  .array(
    fc.constantFrom('a', 'Ж', '漢', '𝄞', ':', '#', '-', '"', "'", '[', '{', '&', '*', '!', '%', '@', ' ', '~', '0'),
    { minLength: 1, maxLength: 10 },
  )
  .map((parts) => parts.join(''));
const long = fc
  .array(fc.constantFrom('\r\n', '\n', '\t', ' ', ': ', '# ', 'text', '- ', '"', '\u2028'), { maxLength: 12 })
  .map((parts) => parts.join(''));
const targets: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ['https', 'https://$/', { expected_status: ['2xx', 301], headers: { accept: 'a: b' } }],
  ['http', 'http://$/', { keyword: 'no', method: 'POST', body: 'x\r\ny' }],
  ['tcp', '$:4000', {}],
  ['dns', '$', { record_type: 'TXT', expected_values: ['"v=spf1"'] }],
  ['dnsbl', '192.0.2.1', {}],
  ['api', 'https://$/', { steps: [{ url: '/a' }, { url: '/b', json: { a: [1, null] } }], variables: { a: 'b: c' } }],
  ['group', '', {}],
];

void t.test(
  'a random workspace that is exported and applied elsewhere is equal, and then there is nothing to do',
  { timeout: 150_000 },
  async (t) => {
    const seed = Number(process.env['PARALLAX_SEED'] ?? Date.now() % 2 ** 31);
    t.comment(`PARALLAX_SEED=${seed}`);
    const one = await api.account('one@example.com');
    const other = await api.account('other@example.com');
    const [workspace] = (await api.call('GET', '/api/v1/workspaces', { token: one.accessToken })).body[
      'workspaces'
    ] as { id: number }[];
    const probes = (await api.call('GET', '/api/v1/probes', { token: one.accessToken })).body['probes'] as {
      id: number;
    }[];
    const ids: number[] = [];
    const watched = { workspace_id: workspace?.id, name: '- watched: #' };
    const made = await api.call('POST', '/api/v1/monitor-groups', { token: one.accessToken, body: watched });
    for (let index = 0; index < 60; index += 1) {
      const [protocol = '', url = '', given = {}] = targets[index % targets.length] ?? [];
      const members = index % 2 === 0 ? { monitor_ids: ids.slice(-9) } : { group_id: made.body['id'], minimum_up: 2 };
      const settings = protocol === 'group' ? members : given;
      const random = fc.record({
        name: name.map((each) => `${each} ${index}`),
        description: long,
        interval_seconds: fc.integer({ min: 1, max: 86_400 }),
        confirmations: fc.integer({ min: 1, max: 5 }),
        consensus_policy: fc.oneof(fc.constantFrom('majority', 'any', 'all'), fc.integer({ min: 1, max: 100 })),
        degraded_threshold_ms: fc.option(fc.integer({ min: 1, max: 60_000 })),
        is_active: fc.boolean(),
        tags: fc.uniqueArray(
          name.filter((each) => each.trim() !== ''),
          { maxLength: 5 },
        ),
        certificate_thresholds_days: fc.uniqueArray(fc.integer({ min: 1, max: 365 }), { maxLength: 10 }),
        dnsbl_servers: fc.constantFrom([], ['a.list.test', 'b.list.test']),
      });
      const [drawn] = fc.sample(random, { numRuns: 1, seed: seed + index });
      const places = [{}, { probe_ids: [probes[index % probes.length]?.id] }, { regions: ['eu-north'] }];
      const place = protocol === 'group' ? {} : places[index % 3];
      const answer = await api.call('POST', '/api/v1/monitors', {
        token: one.accessToken,
        body: {
          workspace_id: workspace?.id,
          protocol,
          url: url.replace('$', `h${index}.example`),
          settings,
          ...drawn,
          ...place,
        },
      });
      // Not with what was answered: texts of random names are read as directives of TAP.
      t.equal(answer.status, 201, `monitor ${index}`);
      ids.push(Number(answer.body['id']));
    }
    for (const [index, count] of [0, 7, 60].entries()) {
      const body = {
        workspace_id: workspace?.id,
        name: `g: ${index}`,
        monitor_ids: ids.slice(0, count),
        tags: ['b', 'a'],
        is_paused: index === 1,
      };
      t.equal((await api.call('POST', '/api/v1/monitor-groups', { token: one.accessToken, body })).status, 201);
    }
    const first = { PARALLAX_TOKEN: await tokenOf(one.accessToken) };
    const second = { PARALLAX_TOKEN: await tokenOf(other.accessToken) };
    const exported = await run(['export'], first);
    t.equal(exported.code, 0, exported.err);
    const all = file('all.yaml', exported.out);
    t.match(await run(['apply', all, '--plan', '--prune'], first), { code: 0, out: /nothing to do: 64 unchanged/ });
    const applied = await run(['apply', all, '--yes'], second);
    t.equal(applied.code, 0, applied.err);
    t.match(await run(['apply', all, '--plan', '--prune'], second), { code: 0, out: /nothing to do: 64 unchanged/ });
    t.equal((await run(['export'], second)).out, exported.out);
  },
);
