import { groupProtocol, monitorProtocols } from '@parallax/api-contract';
import type { MonitorProtocol } from '@parallax/api-contract';
import type { Protocol } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { issue } from '../../../../../packages/checks/src/testing/certificates.ts';
import { sql } from '../../../platform/database/pools.ts';
import { groupsApi } from '../../groups/testing.ts';
import { addProbe, defaultWorkspace, monitorsApi } from '../../testing.ts';
import { withoutNeutraliser } from './file/formulas.ts';
import { readTable } from './file/table.ts';
import { exported, imported } from './testing.ts';

const count = 500;
const client = await issue({ name: 'client' });
const keyPair = { client_certificate: client.cert, client_key: client.key };

/** Targets and settings by protocol, secrets included; the others take a host and a port without any. */
const pointed: Partial<Record<Protocol, { readonly url?: string; readonly settings?: Record<string, unknown> }>> = {
  http: {
    url: 'http://$/a?b=1,2;3',
    settings: { keyword: '=cmd', headers: { accept: 'a,"b"' }, body: 'x\r\ny', method: 'POST' },
  },
  https: {
    url: 'https://$',
    settings: { username: 'u', password: 'pä"ss', expected_status: ['2xx', 301], inverted: false },
  },
  ws: { url: 'ws://$/', settings: { bearer_token: 'token-0123456789' } },
  wss: { url: 'wss://$/', settings: { secret_headers: { 'x-key': 'secret-1' } } },
  pagespeed: { url: 'https://$/' },
  icmp: { url: '$' },
  ping: { url: '$', settings: { count: 2, warn_loss_percent: 12.5 } },
  traceroute: { url: '$' },
  dns: { url: '$', settings: { record_type: 'TXT', expected_values: ['"v=spf1, -all"'] } },
  whois: { url: '$' },
  rdap: { url: '$' },
  dnsbl: { url: '192.0.2.1', settings: { keyed_lists: { mine: 'zone0key0secret.list.test' } } },
  mqtt: { settings: { topic: '=a/b' } },
  kafka: { settings: { topic: 'a' } },
  gamedig: { settings: { game: 'minecraft_java' } },
  nats: { settings: { token: 'token-of-nats' } },
  socks5: { settings: { username: 'u', password: 'secret-2' } },
  mssql: { settings: { username: 'u', password: 'secret-3' } },
  postgres: { settings: { username: 'u', password: 'secret-4' } },
  mysql: { settings: { username: 'u', password: 'secret-5' } },
  mongodb: { settings: { username: 'u', password: 'secret-6' } },
  sftp: { settings: { username: 'u', password: 'secret-7' } },
  ldap: { settings: { base_dn: '' } },
  snmp: {
    settings: {
      version: '3',
      username: 'u',
      auth_protocol: 'sha256',
      auth_password: 'secret-8',
      priv_protocol: 'aes',
      priv_password: 'secret-9',
    },
  },
  tls: { settings: keyPair },
  grpc: { settings: { ...keyPair, secret_headers: { 'x-key': 'secret-11' } } },
  mtproxy: { settings: { secret: 'c0ffee0badc0de0123456789abcdef42', depth: 'telegram' } },
  radius: { settings: { secret: 'secret-10', username: 'u', password: 'p' } },
  sip: { settings: { transport: 'tcp' } },
  api: { settings: { secrets: { key: 'secret-12' }, steps: [{ url: '/a?key={{key}}' }] } },
  docker: { url: 'tcp://$:2375', settings: { container: 'web' } },
};

/** Texts that formats stumble over: delimiters, quotes, formulas, line ends, apostrophes, other scripts. */
const text = fc
  .array(
    fc.constantFrom(',', ';', '"', "'", '=', '+', '-', '@', 'a', 'Ж', '漢', '𝄞', '＝', '[', '{', '\\', '#', '%', '_'),
    { minLength: 1, maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const long = fc
  .array(fc.constantFrom('=1', "'", '\r\n', '\n', '\t', ' ', ',', ';', '"', 'text', '＠'), { maxLength: 20 })
  .map((parts) => parts.join(''));
const days = fc.uniqueArray(fc.integer({ min: 1, max: 365 }), { maxLength: 10 });

const monitor = (index: number, probeIds: readonly number[]) =>
  fc.record({
    protocol: fc.constant<MonitorProtocol>(monitorProtocols[index % monitorProtocols.length] ?? 'http'),
    // Of a group monitor: which of the monitors before it are its members, and how many are needed.
    members: fc.uniqueArray(fc.nat({ max: Math.max(0, index - 1) }), { maxLength: Math.min(index, 12) }),
    minimum_up: fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: undefined }),
    name: text.map((name) => `${name} ${index}`),
    description: long,
    interval_seconds: fc.integer({ min: 1, max: 86_400 }),
    timeout_seconds: fc.integer({ min: 1, max: 60 }),
    confirmations: fc.integer({ min: 1, max: 5 }),
    consensus_policy: fc.oneof(fc.constantFrom('majority', 'any', 'all'), fc.integer({ min: 1, max: 100 })),
    degraded_threshold_ms: fc.option(fc.integer({ min: 1, max: 60_000 })),
    is_active: fc.boolean(),
    tags: fc.uniqueArray(text, { maxLength: 5 }),
    certificate_thresholds_days: days,
    domain_thresholds_days: days,
    dnsbl_servers: fc.constantFrom([], ['a.list.test', 'b.list.test']),
    place: fc.constantFrom(
      {},
      { probe_ids: [probeIds[0]] },
      { probe_ids: [...probeIds].reverse() },
      { regions: ['eu, west'] },
    ),
  });

/** Rows of an export by name, without what an import elsewhere changes: the workspace, and what tells of secrets. */
function rowsOf(file: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(
    readTable(file).rows.map(({ cells }) => {
      const kept = [...cells].filter(([field]) => field !== 'workspace' && !field.startsWith('has_'));
      return [cells.get('name') ?? '', Object.fromEntries(kept)] as const;
    }),
  );
}

void t.test('500 random monitors of all protocols come back from an export as they were', async (t) => {
  const api = await groupsApi(t);
  const probeIds = [
    await addProbe(api.database, 'Probe "1", west', 'eu, west'),
    await addProbe(api.database, '=two', 'us'),
  ];
  await api.database.worker.query(sql.unsafe`
    update probes set capabilities = '{icmp,ipv6,browser,traceroute,docker}'`);
  const seed = Number(process.env['PARALLAX_SEED'] ?? Date.now() % 2 ** 31);
  t.comment(`PARALLAX_SEED=${seed}`);
  const groups = [await api.group({ name: '=web, "1"' }), await api.group({ name: 'Ж 漢' })];
  const ids: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const [made] = fc.sample(monitor(index, probeIds), { numRuns: 1, seed: seed + index });
    if (made === undefined) throw new Error('no monitor');
    const { place, members, minimum_up: minimumUp, ...fields } = made;
    if (made.protocol === groupProtocol) {
      const place = groups[index % 3];
      const watched = place === undefined ? { monitor_ids: members.map((at) => ids[at]) } : { group_id: place.id };
      ids.push((await api.monitor({ ...fields, url: '', settings: { ...watched, minimum_up: minimumUp } })).id);
      continue;
    }
    const { url = '$:4000', settings = {} } = pointed[made.protocol] ?? {};
    ids.push((await api.monitor({ ...fields, ...place, url: url.replace('$', `h${index}.example`), settings })).id);
  }
  // A member of a later row, behind others.
  const first = ids[monitorProtocols.indexOf(groupProtocol)];
  const patch = { token: api.token, body: { settings: { monitor_ids: ids.slice(-7), group_id: null } } };
  t.match(await api.call('PATCH', `/api/v1/monitors/${first}`, patch), { status: 200 });
  const own = await exported(api, `?workspace_id=${api.workspaceId}`);
  t.notMatch(own, /secret-\d|token-of|token-0|zone0key|c0ffee|PRIVATE/, 'no secret');

  const again = await imported(api, own);
  t.match(again, { format: 'parallax', created: 0, skipped: count, failed: 0 }, 'at home nothing changes');
  const plan = await imported(api, own, { query: '?dry_run=true' });
  t.same(
    plan.rows.flatMap((row) => row['differences']),
    [],
    'and nothing differs',
  );

  const other = await api.account('other@example.com');
  const elsewhere = { ...api, token: other.accessToken };
  const theirWorkspace = await defaultWorkspace(api, other.accessToken);
  for (const { name } of groups) {
    const body = { workspace_id: theirWorkspace, name };
    t.match(await api.groups('POST', '', body, { token: other.accessToken }), { status: 201 });
  }
  api.broker.hints.length = 0;
  const began = process.cpuUsage();
  const moved = await imported(elsewhere, own);
  const { user, system } = process.cpuUsage(began);
  const tookMs = (user + system) / 1_000;
  t.match(
    moved,
    { created: count, skipped: 0, failed: 0 },
    JSON.stringify(moved.rows.filter((row) => row.status !== 'created').slice(0, 3)),
  );
  // The specification of the product asks for 2 s, which `npm run bench -- api` measures; here processor time, which other work beside does not change.
  t.ok(tookMs < 2_000, `${Math.round(tookMs)} ms of processor time`);
  t.same([...api.broker.hints].sort(), ['config.0', 'dispatch.1', 'dispatch.2'], 'told once');

  const theirs = await exported(elsewhere);
  const lacking = moved.rows.filter((row) =>
    row.warnings.some((warning) => /secrets are not in the file/.test(warning)),
  );
  t.ok(lacking.length > 100);
  const paused = new Set(lacking.map((row) => row.name));
  const wanted = [...rowsOf(own)].map(([name, fields]) => [
    name,
    paused.has(name) ? { ...fields, is_active: 'false' } : fields,
  ]);
  t.same([...rowsOf(theirs)], wanted, 'equal over exported fields; what lacks a secret is paused');
  t.match(await imported(elsewhere, theirs), { created: 0, skipped: count, failed: 0 });
  t.match(await imported(elsewhere, own), { created: 0, skipped: count, failed: 0 });
  t.same(await exported(elsewhere), theirs);
});

void t.test('a cell that a spreadsheet would take for a formula is neutralised and comes back', async (t) => {
  const api = await monitorsApi(t);
  const names = ['=1+1', "'=1+1", "''@a", '-1', '+x', "'plain", '＝1'];
  for (const [index, name] of names.entries())
    await api.monitor({ name, url: `https://h${index}.example/`, description: `${name}\n` });
  const own = await exported(api);
  for (const line of own.split('\r\n')) t.notMatch(line, /(^|,)"?[=+\-@＝]/, line);
  const other = await api.account('other@example.com');
  t.match(await imported({ ...api, token: other.accessToken }, own), { created: names.length });
  t.same([...rowsOf(await exported({ ...api, token: other.accessToken })).keys()], names);
  t.equal(withoutNeutraliser("''=1"), "'=1");
});

void t.test('a secret in the file is sealed, and the monitor is not paused for it', async (t) => {
  const api = await monitorsApi(t);
  const file =
    'url,protocol,interval_seconds,settings,has_password,password,has_client_key\n' +
    'https://a.example/,https,60,"{""username"":""u""}",true,secret-a,\n' +
    'https://b.example/,https,60,"{""username"":""u""}",true,,\n';
  const steps = '"{""steps"":[{""url"":""/a?key={{key}}""}]}"';
  const apiFile =
    'url,protocol,interval_seconds,settings,has_secrets,secrets\n' +
    `https://c.example/,api,60,${steps},true,"{""key"":""secret-c""}"\n` +
    `https://d.example/,api,60,${steps},true,\n`;
  const ofApi = await imported(api, apiFile);
  t.match(ofApi.rows, [
    { status: 'created', warnings: [] },
    { status: 'created', warnings: [/secrets/] },
  ]);
  t.notMatch(JSON.stringify(ofApi), /secret-c/);
  const report = await imported(api, file);
  t.match(report.rows, [
    { status: 'created', warnings: [] },
    { status: 'created', warnings: [/password/] },
  ]);
  t.notMatch(JSON.stringify(report), /secret-a/);
  const list = await api.call('GET', '/api/v1/monitors?sort=name', { token: api.token });
  t.match(list.body, {
    monitors: [
      { is_active: true, settings: { has_password: true } },
      { is_active: false, paused_by: 'self' },
      { is_active: true, settings: { has_secrets: true } },
      { is_active: false },
    ],
  });
  t.match(await exported(api), /has_password/);
});
