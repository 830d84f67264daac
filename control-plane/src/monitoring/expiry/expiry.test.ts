import t from 'tap';
import { z } from 'zod';
import { sql } from '../../platform/database/pools.ts';
import { monitorsApi } from '../testing.ts';
import { seenFacts, writeExpiries } from '../lasting-facts/index.ts';
import { expiryCapability, removeExpiries } from './index.ts';
import { tellOnce } from './job.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
const api = await monitorsApi(t, { more: [expiryCapability], monitors: { rowsOfMonitor: [removeExpiries] } });
const { worker, raw } = api.database;

/** A probe sees a certificate (or a registration) that ends in so many days. */
async function see(
  monitorId: number,
  days: number,
  { probe = 1, revision = 1, atMs = nowMs, kind = 'certificate' } = {},
) {
  const ends = new Date(nowMs + days * dayMs).toISOString();
  const evidence = kind === 'certificate' ? { certificate: { not_after: ends } } : { details: { expires: ends } };
  const row = { monitorId, voter: probe, probeRevision: revision, eUs: atMs * 1_000 };
  const client = await raw.connect();
  try {
    await writeExpiries(client, seenFacts([{ ...row, evidence: { json: JSON.stringify(evidence) } }]));
  } finally {
    client.release();
  }
}
const tell = async (atDays = 0) => (await tellOnce(worker, nowMs + atDays * dayMs)).told;
/** Notices of a monitor in order: kind, and threshold. */
const notices = async (monitorId: number): Promise<string[]> =>
  (
    await worker.any(sql.type(z.object({ kind: z.string(), payload: z.object({ threshold_days: z.number() }) }))`
      select kind, payload from outbox where kind like '%.expiring' and key = ${`monitor:${monitorId}`} order by id`)
  ).map(({ kind, payload }) => `${kind.split('.')[0]} ${payload.threshold_days}`);
const read = async (monitorId: number) =>
  (await api.call('GET', `/api/v1/monitors/${monitorId}`, { token: api.token })).body;
const post = (monitorId: number, what: string) =>
  api.call('POST', `/api/v1/monitors/${monitorId}/${what}`, { token: api.token });
const inDays = (days: number) => new Date(nowMs + days * dayMs).toISOString();

void t.test('answers say the earliest end that probes see of what is checked now', async (t) => {
  const made = await api.monitor({ name: 'ends' });
  t.match(made, { certificate_expires_at: null, domain_expires_at: null });
  await see(made.id, 400);
  await see(made.id, 380, { probe: 2 });
  await see(made.id, 390, { kind: 'domain' });
  t.match(await read(made.id), { certificate_expires_at: inDays(380), domain_expires_at: inDays(390) });
  const list = await api.call('GET', '/api/v1/monitors', { token: api.token });
  t.match(list.body, { monitors: [{ certificate_expires_at: inDays(380) }] });
  await see(made.id, 500, { atMs: nowMs - 1 });
  t.match(await read(made.id), { certificate_expires_at: inDays(380) }, 'what is older changes nothing');
  await see(made.id, 450, { probe: 2, atMs: nowMs + hourMs });
  t.match(await read(made.id), { certificate_expires_at: inDays(400) }, 'the other is renewed');
  await see(made.id, 450, { probe: 2, atMs: nowMs + 3 * dayMs + 1 });
  t.match(await read(made.id), { certificate_expires_at: inDays(450) }, 'a probe that fell silent is not counted');
  await api.call('PATCH', `/api/v1/monitors/${made.id}`, { token: api.token, body: { url: 'https://other.example/' } });
  t.match(await read(made.id), { certificate_expires_at: null }, 'of another target');
});

void t.test('each threshold is told once, the nearest only, and again for another certificate', async (t) => {
  const { id } = await api.monitor({ name: 'due' });
  await see(id, 31);
  t.equal(await tell(), 0);
  t.equal(await tell(1), 1);
  t.equal(await tell(1.5), 0);
  await tell(17);
  await tell(26);
  t.same(await notices(id), ['certificate 30', 'certificate 14', 'certificate 7']);
  await see(id, 90, { atMs: nowMs + 1 });
  t.equal(await tell(26), 0, 'renewed');
  await see(id, 31, { atMs: nowMs + 2 });
  t.equal(await tell(26), 0, 'the same occasion');
  await tell(40);
  t.same((await notices(id)).at(-1), 'certificate 1', 'one that is over');
  t.equal(await tell(41), 0);
  await see(id, 90, { atMs: nowMs + 3 });
  t.equal(await tell(61), 1);
  t.same((await notices(id)).at(-1), 'certificate 30');
});

void t.test('a monitor that is made with five days left, and one with thresholds of its own', async (t) => {
  const { id } = await api.monitor({ name: 'late' });
  await see(id, 4.9);
  await see(id, 6.9, { kind: 'domain' });
  t.equal(await tell(), 2);
  t.same((await notices(id)).sort(), ['certificate 7', 'domain 7']);
  await api.call('PATCH', `/api/v1/monitors/${id}`, {
    token: api.token,
    body: { certificate_thresholds_days: [30, 5] },
  });
  t.equal(await tell(), 1, 'a nearer one that was crossed');
  await api.call('PATCH', `/api/v1/monitors/${id}`, { token: api.token, body: { certificate_thresholds_days: [20] } });
  t.equal(await tell(), 0, 'a farther one is old news');
  const own = await api.monitor({ name: 'never', certificate_thresholds_days: [] });
  await see(own.id, 1);
  t.equal(await tell(), 0);
});

void t.test('a paused monitor is silent, and is told of when it is resumed', async (t) => {
  const { id } = await api.monitor({ name: 'paused' });
  await see(id, 2.5);
  await post(id, 'pause');
  t.equal(await tell(), 0);
  await post(id, 'resume');
  t.equal(await tell(), 1);
  await post(id, 'pause');
  await post(id, 'resume');
  t.equal(await tell(), 0);
  t.same(await notices(id), ['certificate 3']);
});

void t.test('several processes at once tell each occasion once', async (t) => {
  const ids: number[] = [];
  for (let count = 0; count < 8; count += 1) ids.push((await api.monitor({ name: `many ${count}` })).id);
  for (const id of ids) await see(id, 5);
  await Promise.all([tell(), tell(), tell()]);
  await tell();
  for (const id of ids) t.same(await notices(id), ['certificate 7']);
});

void t.test('a reset forgets no occasion, a deletion everything', async (t) => {
  const { id } = await api.monitor({ name: 'gone' });
  await see(id, 5);
  await tell();
  const reset = await api.call('POST', `/api/v1/monitors/${id}/reset-stats`, {
    token: api.token,
    body: { confirm: true },
  });
  t.equal(reset.status, 200, JSON.stringify(reset.body));
  t.match(await read(id), { certificate_expires_at: inDays(5) });
  t.equal(await tell(), 0);
  t.ok((await api.call('DELETE', `/api/v1/monitors/${id}`, { token: api.token })).status < 300);
  const left = await worker.oneFirst(sql.type(z.object({ n: z.number() }))`
    select ((select count(*) from monitor_expiries where monitor_id = ${id}) +
      (select count(*) from expiry_notices where monitor_id = ${id}))::integer as n`);
  t.equal(left, 0);
  await see(id, 1);
  t.equal(await tell(), 0, 'what comes late is not told');
});
