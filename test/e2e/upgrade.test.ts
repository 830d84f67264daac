import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { apiClient } from '../harness/api-client.ts';
import { endLeftChildren } from '../harness/children.ts';
import { root, runNode, startNode } from '../harness/processes.ts';
import { newInstallation, untilReady } from '../harness/product.ts';

type Monitor = { id: number; name: string; url: string; tags: string[]; description: string; is_active: boolean };
type Expected = {
  account: { email: string; password: string };
  api_key: { key: string };
  monitors: (Monitor & { status_ranges: object[] })[];
  incidents: object[];
};

/** What the first released schema held, and what its own API said of it. */
const fixture = path.join(root, 'test/fixtures/first-step');
const expected = JSON.parse(readFileSync(path.join(fixture, 'expected.json'), 'utf8')) as Expected;

t.test('an installation of the first schema is taken over whole', { timeout: 180_000 }, async (t) => {
  const installation = await newInstallation();
  const { dataDir, environment, baseUrl } = installation;
  const keyFile = path.join(dataDir, 'key-encryption-key');
  const up = () => startNode(['control-plane/src/main.ts', 'up'], environment, path.join(dataDir, 'output.log'));
  let supervisor: ReturnType<typeof up> | undefined;
  t.teardown(async () => {
    await supervisor?.stop(15_000);
    await endLeftChildren(dataDir);
    installation.remove();
  });
  copyFileSync(path.join(fixture, 'key-encryption-key'), keyFile);
  const out = await runNode(
    ['control-plane/src/main.ts', 'restore', path.join(fixture, 'installation.backup')],
    environment,
    60_000,
  );
  t.match(out, /migrated: 0007_/);

  await t.test('a start with another key-encryption key is refused and changes nothing', async (t) => {
    writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`);
    const refused = up();
    t.equal(await refused.ended, 1);
    t.match(refused.errors(), /Parallax cannot start: the key-encryption key is not the one/);
    copyFileSync(path.join(fixture, 'key-encryption-key'), keyFile);
  });

  await t.test(
    'an installation that does not run is backed up too, into a file that is replaced as a whole',
    async (t) => {
      const file = path.join(dataDir, 'nightly.backup');
      writeFileSync(file, 'the backup of yesterday');
      t.equal(await runNode(['control-plane/src/main.ts', 'backup', '--quiet', file], environment, 60_000), '');
      t.match(
        await runNode(['control-plane/src/main.ts', 'backup', '--verify', file], environment),
        'nobody altered it',
      );
      t.same(
        readdirSync(dataDir).filter((name) => name.endsWith('.part')),
        [],
      );
      const bad = startNode(
        ['control-plane/src/main.ts', 'backup', path.join(dataDir, 'missing/folder.backup')],
        environment,
      );
      t.equal(await bad.ended, 1);
      t.match(bad.errors(), /control-plane: the backup cannot be written to .*ENOENT/);
    },
  );

  supervisor = up();
  await untilReady(installation, supervisor);

  await t.test('account, key, monitors, timelines and incidents are the same', async (t) => {
    const nobody = apiClient(baseUrl);
    const { access_token: token } = await nobody.call<{ access_token: string }>(
      'POST',
      '/api/v1/auth/login',
      200,
      expected.account,
    );
    const api = nobody.withToken(token);
    await nobody.call('GET', '/api/v1/monitors', 200, undefined, { 'x-api-key': expected.api_key.key });
    const { monitors } = await api.call<{ monitors: Monitor[] }>('GET', '/api/v1/monitors', 200);
    t.equal(monitors.length, expected.monitors.length);
    for (const { status_ranges: ranges, ...monitor } of expected.monitors) {
      t.match(
        monitors.find(({ id }) => id === monitor.id),
        monitor,
      );
      const found = await api.call<{ status_ranges: object[] }>(
        'GET',
        `/api/v1/monitors/${monitor.id}/status-ranges`,
        200,
      );
      t.match(found.status_ranges, readable(ranges), `the timeline of ${monitor.name}`);
      t.equal(found.status_ranges.length, ranges.length);
    }
    const { incidents } = await api.call<{ incidents: object[] }>('GET', '/api/v1/incidents', 200);
    t.match(incidents, readable(expected.incidents));
    t.equal(incidents.length, expected.incidents.length);
  });
});

type OldVote = { readonly vote: string; readonly voter: number; readonly error: number; readonly sinceUs: number };
/** Numbers of errors that the fixture has. */
const errorCodes: ReadonlyMap<number, string> = new Map([
  [10, 'address_denied'],
  [52, 'http_status'],
]);

/** What the first API showed of evidence was the engine's record; the same as it is shown now. */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  const { voters, ...others } = value as { readonly voters?: readonly OldVote[] };
  const shown = Object.fromEntries(Object.entries(others).map(([name, inner]) => [name, readable(inner)]));
  if (voters === undefined) return shown;
  const votes = voters.map(({ vote, voter, error, sinceUs }) => ({
    probe_id: voter,
    vote,
    since: new Date(Math.floor(sinceUs / 1_000)).toISOString(),
    error_code: error === 0 ? null : errorCodes.get(error),
  }));
  return { ...shown, votes };
}
