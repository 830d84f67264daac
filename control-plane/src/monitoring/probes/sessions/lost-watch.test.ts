import t from 'tap';
import { sql } from '../../../platform/database/pools.ts';
import { testDatabase } from '../../../platform/database/testing.ts';
import { makeProbes } from '../../../testing/probes.ts';
import { noticeLostProbes } from './queries.ts';

const { database } = await testDatabase(t);
const { worker } = database;
const standstillMs = 7_000;
const quietMs = 60_000;

const look = async (isQuiet = false): Promise<readonly string[]> =>
  (await noticeLostProbes(worker, { isQuiet, quietMs, standstillMs })).map((probe) => probe.name);
/** Moves what is known of the watch back in time, as if so much had passed without a look. */
const passes = (seconds: number) =>
  worker.query(sql.unsafe`update lost_watch set looked_at = looked_at - ${seconds} * interval '1 second',
    quiet_until = quiet_until - ${seconds} * interval '1 second'`);
/** The same with a look every few seconds. */
const passesLooking = (seconds: number) =>
  worker.query(sql.unsafe`update lost_watch set quiet_until = quiet_until - ${seconds} * interval '1 second'`);
const silentFor = async (probeId: number, seconds: number): Promise<void> => {
  await worker.query(sql.unsafe`
    update probes set offline_since = null, last_seen_at = now() - ${seconds} * interval '1 second' where id = ${probeId}`);
  await worker.query(
    sql.unsafe`update probe_sessions set closed_at = now() where probe_id = ${probeId} and closed_at is null`,
  );
  await worker.query(sql.unsafe`
    insert into probe_sessions (probe_id, boot_id, replica, last_heartbeat_at)
    values (${probeId}, 'boot', 'other', now() - ${seconds} * interval '1 second')`);
};

const [silent = 0, heard = 0] = await makeProbes(database, [
  { name: 'silent', region: 'eu' },
  { name: 'heard', region: 'us' },
]);

t.test('nobody is lost in the first minute of an installation, whatever a replica thinks', async (t) => {
  await silentFor(silent, 50);
  await silentFor(heard, 10);
  t.same(await look(), []);
  await passesLooking(59);
  t.same(await look(), []);
  await passesLooking(1);
  t.same(await look(), ['silent'], 'looking on does not prolong it');
  t.same(await look(), [], 'noticed once');
});

t.test('a probe is lost after 45 s without a heartbeat and not before', async (t) => {
  await silentFor(silent, 43);
  t.same(await look(), []);
  await silentFor(silent, 46);
  t.same(await look(), ['silent']);
});

t.test(
  'after a time in which nobody looked nobody is lost for a minute: the database or all control planes were away',
  async (t) => {
    await silentFor(silent, 50);
    await passes(50);
    // This replica held no session and made no query meanwhile: it has met no error and knows of nothing.
    t.same(await look(), []);
    t.same(await look(), []);
    await silentFor(heard, 1);
    await passesLooking(59);
    t.same(await look(), []);
    await passesLooking(1);
    t.same(await look(), ['silent'], 'the one that has not come back');
  },
);

t.test('a short pause of the looks changes nothing', async (t) => {
  await silentFor(silent, 50);
  await passes(6);
  t.same(await look(), ['silent']);
});

t.test('a replica that has reason to be quiet keeps the watch for the others', async (t) => {
  await silentFor(silent, 50);
  await passes(6);
  t.same(await look(true), []);
  await passes(6);
  t.same(await look(), ['silent'], 'twelve seconds, and a look between them');
});

t.test('a probe that was registered and never came is lost too', async (t) => {
  const [never = 0] = await makeProbes(database, [{ name: 'never', region: 'eu', hasConnected: false }]);
  t.same(await look(), []);
  await worker.query(sql.unsafe`update probes set created_at = now() - interval '46 seconds' where id = ${never}`);
  t.same(await look(), ['never']);
});
