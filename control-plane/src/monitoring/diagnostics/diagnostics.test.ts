import { keptLog } from '@parallax/testkit';
import type { TestContext } from '@parallax/testkit';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { enqueue } from '../../platform/outbox/enqueue.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import type { DiagnosisAnswer } from '../probes/index.ts';
import { addProbe, addRange, monitorsApi, setStatus } from '../testing.ts';
import { diagnosticsConsumers } from './consumer.ts';
import { startDiagnostics } from './job.ts';
import type { Ask } from './job.ts';
import { diagnosesOfRange } from './queries.ts';
import { silentSignals } from '../../platform/database/testing.ts';

const diagnosisOf = (address: string) => ({
  host: 'a.test',
  port: 80,
  dns: { addresses: [address], duration_us: 1, failures: [] },
  connections: [],
});
const seen = (address: string): DiagnosisAnswer => ({ diagnosis: diagnosisOf(address) });
const stateRow = z.object({ state: z.string(), attempts: z.number(), summary: z.string() });

/** A monitor with three probes, of which `a` fails since some minutes. */
async function world(t: TestContext) {
  const api = await monitorsApi(t);
  const { database } = api;
  const probes = [
    await addProbe(database, 'probe a', 'eu'),
    await addProbe(database, 'probe b', 'eu'),
    await addProbe(database, 'probe c', 'us'),
  ] as const;
  const { id: monitorId } = await api.monitor();
  const sinceMs = Date.now() - 60_000;
  for (const [index, probeId] of probes.entries())
    await addRange(database, { monitorId, probeId, fromMs: sinceMs, toMs: null, status: index === 0 ? 'DOWN' : 'UP' });
  await addRange(database, { monitorId, fromMs: sinceMs, toMs: null, status: 'DEGRADED' });
  await setStatus(database, monitorId, 'PARTIAL');
  const { log, lines } = keptLog();
  const context = { ...api.context, log };
  const asked: number[] = [];
  const answers = new Map<number, DiagnosisAnswer>([
    [probes[0], seen('127.0.0.2')],
    [probes[1], seen('127.0.0.3')],
    [probes[2], seen('127.0.0.4')],
  ]);
  const ask: Ask = async (probeId) => {
    asked.push(probeId);
    return answers.get(probeId) ?? { refused: 'nobody' };
  };
  const tell = async (atMs: number, votes: readonly string[] = ['DOWN', 'UP', 'UP']) => {
    const voters = votes.map((vote, index) => ({ voter: probes[index] ?? 0, vote }));
    const payload = {
      monitor_id: monitorId,
      workspace_id: api.workspaceId,
      to: 'PARTIAL',
      at: new Date(atMs).toISOString(),
      evidence: { voters },
    };
    await database.worker.transaction((tx) =>
      enqueue(tx, { key: `monitor:${monitorId}`, kind: 'monitor.transition', payload }),
    );
    while ((await workOnce(context, diagnosticsConsumers)) > 0);
  };
  const due = () => database.worker.query(sql.unsafe`update diagnoses set due_at = now() - interval '1 second'`);
  const start = async (with_: Ask = ask) => {
    // Only the test says when they are looked for.
    const job = await startDiagnostics({ ...context, database: { ...database, signals: silentSignals } }, log, with_);
    t.teardown(() => job.stop());
    return job;
  };
  const states = () =>
    database.worker.any(sql.type(stateRow)`select state, attempts, summary from diagnoses order by since`);
  return { api, database, probes, monitorId, sinceMs, lines, asked, answers, ask, tell, due, start, states };
}

void t.test('a disagreement is looked at once, by one failing and one passing probe, whoever works', async (t) => {
  const w = await world(t);
  await w.tell(w.sinceMs);
  const jobs = [await w.start(), await w.start()];
  await Promise.all(jobs.map((job) => job.soon()));
  t.same(w.asked, [], 'second opinions come first');
  await w.due();
  await Promise.all(jobs.map((job) => job.soon()));
  await Promise.all(jobs.map((job) => job.soon()));
  t.same(w.asked, [w.probes[0], w.probes[1]], 'the passing one is of the same region');
  t.match(await w.states(), [{ state: 'made', attempts: 1, summary: 'probe a got 127.0.0.2, probe b 127.0.0.3.' }]);
  await w.tell(w.sinceMs);
  t.equal((await w.states()).length, 1, 'one for each disagreement');
});

void t.test(
  'the next disagreement waits for ten minutes after the last diagnosis, and only the last one waits',
  async (t) => {
    const w = await world(t);
    const job = await w.start();
    await w.tell(w.sinceMs);
    await w.due();
    await job.soon();
    await w.tell(w.sinceMs + 1_000);
    await w.tell(w.sinceMs + 2_000);
    t.match(await w.states(), [{ state: 'made' }, { state: 'wanted' }]);
    const waits = await w.database.worker.oneFirst(sql.type(z.object({ minutes: z.number() }))`
    select round(extract(epoch from due_at - now()) / 60)::integer as minutes from diagnoses where state = 'wanted'`);
    t.equal(waits, 10);
    await job.soon();
    t.equal(w.asked.length, 2);
    await w.database.worker.query(sql.unsafe`
    update diagnoses set made_at = made_at - interval '11 minutes' where state = 'made'`);
    await w.tell(w.sinceMs + 3_000);
    const soon = await w.database.worker.oneFirst(sql.type(z.object({ soon: z.boolean() }))`
    select due_at < now() + interval '5 seconds' as soon from diagnoses where state = 'wanted'`);
    t.ok(soon);
  },
);

void t.test('a disagreement that is over, or that nobody can judge any more, is forgotten', async (t) => {
  const w = await world(t);
  const job = await w.start();
  await w.tell(w.sinceMs, ['UP', 'UP', 'UP']);
  t.same(await w.states(), [], 'no votes that differ');
  for (const status of ['UP', 'DOWN']) {
    await w.tell(w.sinceMs);
    await w.due();
    await setStatus(w.database, w.monitorId, status);
    await job.soon();
    t.same(await w.states(), [], status);
    await setStatus(w.database, w.monitorId, 'PARTIAL');
  }
  await w.tell(w.sinceMs);
  await w.due();
  await w.database.worker.query(sql.unsafe`
    insert into pauses (monitor_id, started_at, paused_by) values (${w.monitorId}, now(), 'group')`);
  await job.soon();
  t.same(await w.states(), [], 'its group is paused');
  await w.database.worker.query(sql.unsafe`delete from pauses`);
  await w.tell(w.sinceMs);
  await w.due();
  // Votes that ran out close the ranges of their probes.
  await w.database.worker.query(sql.unsafe`update probe_ranges set ended_at = now() where probe_id <> ${w.probes[0]}`);
  await job.soon();
  t.same(await w.states(), []);
  t.same(w.asked, []);
});

void t.test('the next probe is asked when one gives nothing; lost and paused ones are not asked', async (t) => {
  const w = await world(t);
  const job = await w.start();
  w.answers.set(w.probes[1], { refused: 'it is busy' });
  await w.tell(w.sinceMs);
  await w.due();
  await job.soon();
  t.same(w.asked, w.probes.slice());
  t.match(await w.states(), [{ state: 'made', summary: 'probe a got 127.0.0.2, probe c 127.0.0.4.' }]);

  await w.database.worker.query(sql.unsafe`delete from diagnoses`);
  await w.database.worker.query(sql.unsafe`update probes set offline_since = now() where id = ${w.probes[1]}`);
  w.asked.length = 0;
  w.answers.set(w.probes[2], { diagnosis: { hostile: 'x'.repeat(1_000) } });
  await w.tell(w.sinceMs);
  await w.due();
  await job.soon();
  t.same(w.asked, [w.probes[0], w.probes[2]]);
  t.match(await w.states(), [{ state: 'made', summary: 'probe c gave no diagnosis: its diagnosis cannot be read.' }]);
});

void t.test('when nobody answers it is tried three times and then left with the reason', async (t) => {
  const w = await world(t);
  const job = await w.start();
  w.answers.clear();
  await w.tell(w.sinceMs);
  for (const attempts of [1, 2]) {
    await w.due();
    await job.soon();
    t.match(await w.states(), [{ state: 'wanted', attempts }]);
  }
  await job.soon();
  t.match(await w.states(), [{ attempts: 2 }], 'not at once');
  await w.due();
  await job.soon();
  t.match(await w.states(), [
    { state: 'failed', attempts: 3, summary: 'probe a gave no diagnosis: nobody. probe c gave no diagnosis: nobody.' },
  ]);
});

void t.test('a stop gives back what is under way, and a process that died loses it after its lease', async (t) => {
  const w = await world(t);
  await w.tell(w.sinceMs);
  await w.due();
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<DiagnosisAnswer>();
  const stuck = await w.start(() => {
    begun.resolve();
    return release.promise;
  });
  const round = stuck.soon();
  await begun.promise;
  const other = await w.start();
  await other.soon();
  t.same(w.asked, [], 'who holds it holds it');
  await stuck.stop();
  await other.soon();
  t.match(await w.states(), [{ state: 'made', attempts: 2 }]);
  release.resolve(seen('127.0.0.9'));
  await round;
  t.match(await w.states(), [{ state: 'made', summary: /127\.0\.0\.3/ }], 'who lost it changes nothing');

  await w.database.worker.query(sql.unsafe`
    update diagnoses set state = 'wanted', made_at = null, leased_until = now() + interval '5 seconds'`);
  await other.soon();
  t.match(await w.states(), [{ state: 'wanted' }]);
  await w.database.worker.query(sql.unsafe`update diagnoses set leased_until = now() - interval '1 second'`);
  await other.soon();
  t.match(await w.states(), [{ state: 'made', attempts: 3 }]);
});

void t.test('a kept diagnosis is parsed when it is read', async (t) => {
  const w = await world(t);
  const range = await w.database.worker.oneFirst(
    sql.type(z.object({ id: z.bigint() }))`select id from status_ranges where monitor_id = ${w.monitorId}`,
  );
  await w.tell(w.sinceMs);
  const read = () => diagnosesOfRange(w.database.worker, w.monitorId, Number(range));
  const keep = (fragment: ReturnType<typeof sql.fragment>) =>
    w.database.worker.query(sql.unsafe`update diagnoses set ${fragment}`);
  const side = JSON.stringify(diagnosisOf('127.0.0.2'));
  await keep(sql.fragment`failing_probe_id = ${w.probes[0]}, failing = ${side}::jsonb`);
  t.match(await read(), [{ failing: { diagnosis: { host: 'a.test', dns: { addresses: ['127.0.0.2'] } } } }]);
  for (const damage of [
    sql.fragment`failing = '{"host": 5}'`,
    sql.fragment`failing = ${side}::jsonb, passing = '"x"'`,
    sql.fragment`passing = null, differences = '[{"field": "dns", "a": {}}]'`,
  ]) {
    await keep(damage);
    await t.rejects(read(), { message: /do not conform with the schema/ });
  }
});

void t.test('a diagnosis belongs to the range that holds at its onset, and goes with the monitor', async (t) => {
  const w = await world(t);
  const range = await w.database.worker.oneFirst(
    sql.type(z.object({ id: z.bigint() }))`select id from status_ranges where monitor_id = ${w.monitorId}`,
  );
  // Ranges begin at a microsecond, and what is told of them is cut to a millisecond.
  await w.database.worker.query(sql.unsafe`
    update status_ranges set started_at = started_at + interval '700 microseconds' where id = ${range}`);
  await w.tell(w.sinceMs);
  t.match(await diagnosesOfRange(w.database.worker, w.monitorId, Number(range)), [
    { sinceMs: w.sinceMs, madeMs: null, state: 'wanted', failing: null, differences: [] },
  ]);
  await w.database.worker.query(sql.unsafe`
    update status_ranges set ended_at = started_at, started_at = started_at - interval '1 hour' where id = ${range}`);
  t.same(await diagnosesOfRange(w.database.worker, w.monitorId, Number(range)), [], 'it began with the next range');
  const gone = await w.api.call('DELETE', `/api/v1/monitors/${w.monitorId}`, { token: w.api.token });
  t.equal(gone.status, 204);
  t.same(await w.states(), []);
});
