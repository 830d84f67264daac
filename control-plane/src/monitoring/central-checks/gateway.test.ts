import { httpTarget, keptLog } from '@parallax/testkit';
import t from 'tap';
import { testDatabase } from '../../platform/database/testing.ts';
import { insertProbe } from '../check-results/ingest/testing/fixture.ts';
import { createCentralCheck } from './gateway.ts';
import { readSessions } from './queries.ts';

const context = {
  database: { raw: { query: async () => ({ rows: [] }) } as never },
  now: () => Date.now(),
  allowedPrivateTargets: ['127.0.0.0/8'],
  deniedListeners: () => [],
  canaries: [],
  version: 'test',
  replica: 'here',
};
const http = (url: string, settings: Record<string, unknown> = {}) => ({
  protocol: 'http',
  url,
  settings,
  timeoutS: 2,
  degradedThresholdMs: undefined,
});
// Fails without an address and without asking any network, as a name does that cannot be resolved.
const unreached = http('no target');
const signal = new AbortController().signal;

void t.test('a target is checked as a probe would, and steps are kept only for a person', async (t) => {
  const { log } = keptLog();
  const target = await httpTarget(t);
  const check = createCentralCheck({ ...context, log });
  const traced = await check(http(target.url), { signal, isTraced: true });
  t.match(traced, { outcome: { outcome: 'ok' } });
  t.ok(traced.trace.length > 0);
  const plain = await check(http(target.url), { signal });
  t.same(plain.trace, []);
  const denied = await createCentralCheck({ ...context, log, allowedPrivateTargets: [] })(http(target.url), { signal });
  t.match(
    denied.outcome,
    { outcome: 'probe_error', source: 'probe', code: 'address_denied' },
    'never the target’s failure',
  );
  const installation = { ...context, log, allowedPrivateTargets: [], administratorPrivateTargets: ['127.0.0.0/8'] };
  const ofWorkspace = createCentralCheck(installation);
  for (const [reach, code] of [
    [undefined, 'address_denied'],
    [{ isAdministrators: false, ranges: [] }, 'address_denied'],
    [{ isAdministrators: false, ranges: ['10.0.0.0/8'] }, 'address_denied'],
    [{ isAdministrators: false, ranges: ['127.0.0.0/8'] }, undefined],
    [{ isAdministrators: true, ranges: [] }, undefined],
  ] as const)
    t.equal((await ofWorkspace({ ...http(target.url), reach }, { signal })).outcome.code, code, JSON.stringify(reach));
  const ofPrivateProbes = await check({ ...http(target.url), isOfPrivateProbes: true }, { signal });
  t.match(
    ofPrivateProbes.outcome,
    { outcome: 'probe_error', code: 'address_denied' },
    'their address is another machine',
  );
});

void t.test('what the control plane lacks is its own lack, never the target’s', async (t) => {
  const { log } = keptLog();
  const check = createCentralCheck({ ...context, log });
  const monitor = (protocol: string, url: string, settings = {}) => ({ ...http(url, settings), protocol });
  for (const lacking of [
    monitor('pagespeed', 'https://127.0.0.1/'),
    monitor('docker', 'unix:///var/run/docker.sock', { container: 'web' }),
    monitor('of-a-newer-version', 'a.test'),
  ])
    t.match(
      (await check(lacking, { signal })).outcome,
      { outcome: 'probe_error', source: 'probe', code: 'probe_capability', message: /^.{20,}\.$/ },
      lacking.protocol,
    );
});

void t.test('a failure counts only when the uplink stands; local targets and good answers need no look', async (t) => {
  const { log, lines } = keptLog();
  const target = await httpTarget(t);
  let looks = 0;
  let answers: boolean | undefined = false;
  const check = createCentralCheck(
    { ...context, log },
    {
      gatewayAnswers: async () => {
        looks += 1;
        return answers;
      },
      canariesAnswer: async () => undefined,
    },
  );
  await check(http(target.url), { signal });
  await target.close();
  t.match((await check(http(target.url), { signal })).outcome, { outcome: 'fail', code: 'connect_refused' });
  t.equal(looks, 0);
  t.match((await check(unreached, { signal })).outcome, { outcome: 'probe_error', code: 'probe_uplink' });
  t.equal(looks, 1);
  answers = true;
  t.match((await check(unreached, { signal })).outcome, { outcome: 'fail' });
  answers = undefined;
  t.match((await check(unreached, { signal })).outcome, { outcome: 'fail' });
  t.equal(lines.filter(({ msg }) => String(msg).includes('uplink of the control plane')).length, 2);
});

void t.test('a probe elsewhere that was heard since the check began shows that the uplink stands', async (t) => {
  const { database } = await testDatabase(t);
  const { log } = keptLog();
  const check = createCentralCheck(
    { ...context, log, database },
    { gatewayAnswers: async () => false, canariesAnswer: async () => false },
  );
  const outcome = async () => (await check(unreached, { signal })).outcome.outcome;
  await insertProbe(database.raw, 'r');
  t.equal(await outcome(), 'probe_error');
  await database.raw.query(
    `insert into probe_sessions (probe_id, boot_id, replica, remote_address, last_heartbeat_at)
     select id, 'b', 'here', '198.51.100.7', now() + interval '1 minute' from probes`,
  );
  t.equal(await outcome(), 'fail');
  t.match(await readSessions(database.raw), [{ replica: 'here', remoteAddress: '198.51.100.7', isPaused: false }]);
  const set = (text: string) => database.raw.query(`update probe_sessions set ${text}`);
  await set(`last_heartbeat_at = now() - interval '1 minute'`);
  t.equal(await outcome(), 'probe_error', 'heard before');
  await set(`last_heartbeat_at = now() + interval '1 minute', remote_address = '127.0.0.1'`);
  t.equal(await outcome(), 'probe_error', 'on this machine');
  await set(`remote_address = '198.51.100.7', replica = 'another'`);
  t.equal(await outcome(), 'probe_error', 'heard by another process, whose way may be another');
});
