import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { testApi } from '../testing.ts';

/** Tables of tenants, each with a row that belongs to an account and its workspace. */
const tables = [
  'users',
  'sessions',
  'workspaces',
  'workspace_members',
  'workspace_invites',
  'api_keys',
  'access_tokens',
  'account_tokens',
  'audit_log',
  'identities',
  'totp_factors',
  'recovery_codes',
  'passkeys',
] as const;

void t.test('row-level security shows a login of requests nothing outside its scope', async (t) => {
  const api = await testApi(t);
  const { id, accessToken: token } = await api.account('ada@example.com');
  await api.call('POST', '/api/v1/api-keys', { token, body: { name: 'ci' } });
  await api.call('POST', '/api/v1/auth/tokens', { token, body: { name: 'ci' } });
  await api.call('POST', '/api/v1/workspaces/1/invites', { token, body: {} });
  const { worker } = api.database;
  await worker.query(
    sql.unsafe`insert into identities (user_id, way, issuer, subject) values (${id}, 'messenger', 'i', 's')`,
  );
  await worker.query(sql.unsafe`insert into totp_factors (user_id, secret) values (${id}, '1')`);
  await worker.query(sql.unsafe`insert into recovery_codes (user_id, code_hash) values (${id}, '1')`);
  await worker.query(sql.unsafe`
    insert into passkeys (user_id, name, credential_id, public_key, counter, backed_up) values (${id}, 'p', '1', '2', 0, false)`);
  for (const table of tables) {
    const rows = sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from ${sql.identifier([table])}`;
    t.ok((await worker.oneFirst(rows)) > 0, `${table} has rows`);
    t.equal(await api.database.api.oneFirst(rows), 0, table);
  }
});

/** Tables that a request may read whole, and why: the installation's own, and results, which are reached through their monitor. */
const open: Readonly<Record<string, string>> = {
  assignments:
    'who takes a probe counts its seats of all tenants, to choose the one with the fewest; a seat holds identifiers only',
  check_results:
    'read by the hundred thousand for one monitor, where a policy would look at each; times and codes, no text',
  installation: 'one row of the installation',
  intake_outages: 'when the installation itself took nothing in',
  packing_jobs: 'how far results of all tenants are packed',
  quarantines:
    'a replay needs those of probes that a monitor had in another workspace; when a probe was doubted, no more',
  rate_limits: 'keys are digests, and a request is counted before its tenant is known',
  result_days: 'as check_results: sums',
  result_hours: 'as check_results: packed times and codes',
  result_storage: 'one row of the installation',
  schema_migrations: 'which migrations ran',
  shards: 'how far results of all tenants are counted',
};

void t.test('every table that a request may read is held back by its tenant', async (t) => {
  const api = await testApi(t);
  const readable = await api.database.worker.any(sql.type(
    z.object({ name: z.string(), held: z.boolean(), owned: z.boolean() }),
  )`
    select c.relname::text as name, c.relrowsecurity and c.relforcerowsecurity as held,
           exists (select from pg_attribute a
                   where a.attrelid = c.oid and a.attname in ('user_id', 'owner_id', 'workspace_id') and not a.attisdropped) as owned
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and has_any_column_privilege('parallax_api', c.oid, 'select')
    order by 1`);
  t.same(
    readable.filter(({ held, owned }) => owned && !held).map(({ name }) => name),
    [],
    'where a row names its tenant, row-level security is forced',
  );
  t.same(
    readable.filter(({ held }) => !held).map(({ name }) => name),
    Object.keys(open),
    'and all other tables are listed, with the reason',
  );
  const policies = await api.database.worker.any(sql.type(
    z.object({ name: z.string(), using: z.string(), check: z.string().nullable() }),
  )`
    select format('%s.%s', p.polrelid::regclass, p.polname) as name, pg_get_expr(p.polqual, p.polrelid) as using,
           pg_get_expr(p.polwithcheck, p.polrelid) as check
    from pg_policy p
    where 0 = any (p.polroles) or exists (select from unnest(p.polroles) as r (oid) where r.oid <> 0 and pg_has_role('parallax_api', r.oid, 'usage'))
    order by 1`);
  t.ok(policies.length >= 20, `${policies.length} policies for requests`);
  const own = String.raw`\((user_id|owner_id|id) = current_user_id\(\)\)`;
  const ofWorkspace = String.raw`\((workspace_id|id) = ANY \(current_workspaces\(\)\)\)`;
  const part = `(${own}|${ofWorkspace})`;
  // Facts of a monitor that name no tenant of their own: that of the monitor counts.
  const ofMonitor = String.raw`\(EXISTS \( SELECT FROM monitors m WHERE \(\(m\.id = \w+\.monitor_id\) AND \(m\.workspace_id = ANY \(current_workspaces\(\)\)\)\)\)\)`;
  const ofProbe = String.raw`\(EXISTS \( SELECT FROM probes p WHERE \(\(p\.id = \w+\.probe_id\) AND \(\(p\.workspace_id IS NULL\) OR \(p\.workspace_id = ANY \(current_workspaces\(\)\)\)\)\)\)\)`;
  // Probes of the installation, and what lets one join, belong to no workspace; a link that a person asked for may be of one of theirs.
  const ofAnyOrNone = String.raw`\(\(workspace_id IS NULL\) OR ${ofWorkspace}\)`;
  // The same, asked once for a statement that reads very many rows.
  const ofWorkspaceAtOnce = String.raw`\(workspace_id = ANY \(\( SELECT current_workspaces\(\) AS current_workspaces\)::integer\[\]\)\)`;
  // Feedback is addressed to those who administer the installation.
  const orAdministrator = String.raw`\(${own} OR \( SELECT identity_is_administrator\(\) AS identity_is_administrator\)\)`;
  const scope = new RegExp(
    `^(${orAdministrator}|${ofWorkspaceAtOnce}|${ofMonitor}|${ofProbe}|${part}|\\(${part} OR ${part}\\)|${ofAnyOrNone}|\\(${own} AND ${ofAnyOrNone}\\))$`,
  );
  for (const { name, using, check } of policies) {
    t.match(using.replaceAll(/\s+/g, ' '), scope, name);
    if (check !== null) t.match(check, scope, `${name}, for what is written`);
  }
});
