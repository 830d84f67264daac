import { readRangeEvidenceRoute } from '@parallax/api-contract';
import { errorCodes } from '@parallax/checks';
import t from 'tap';
import { z } from 'zod';
import { sql } from '../../../platform/database/pools.ts';
import { engineRecordsIn } from '../../../testing/engine-records.ts';
import { addMember, addProbe, addResults, monitorsApi } from '../../testing.ts';
import { failurePhase, readStored } from './votes.ts';

void t.test('an error code says in which step a check failed', async (t) => {
  const phases = Object.fromEntries(Object.keys(errorCodes).map((code) => [code, failurePhase(code)]));
  t.match(phases, {
    dns_nxdomain: 'dns',
    address_denied: 'dns',
    connect_refused: 'connect',
    tls_expired: 'tls',
    starttls_refused: 'tls',
    http_status: 'answer',
    dns_wrong_answer: 'answer',
    ping_no_reply: 'answer',
    probe_internal: null,
    overload: null,
  });
  t.equal(failurePhase(undefined), null);
});

void t.test('evidence that an older version stored, or none, is read as far as it goes', async (t) => {
  t.same(readStored({ rule: 'answered' }), {
    rule: 'answered',
    quorum: null,
    quorum_out_of_reach: false,
    voters: [],
    missing: [],
  });
  t.match(readStored(null), { rule: null, voters: [] });
});

void t.test('a range says who voted what, when and why, who was missing, and what probes saw', async (t) => {
  const api = await monitorsApi(t);
  const { worker } = api.database;
  const [one, two, three, four] = [
    await addProbe(api.database, 'probe a', 'eu'),
    await addProbe(api.database, 'probe b', 'us'),
    await addProbe(api.database, 'probe c', 'ap'),
    await addProbe(api.database, 'probe d', 'ap'),
  ];
  const { id } = await api.monitor();
  const startMs = Date.now() - 600_000;
  await addResults(api.database, [
    { monitorId: id, probeId: one, atMs: startMs, outcome: 'fail', code: 'tls_expired' },
    { monitorId: id, probeId: one, atMs: startMs + 30_000, outcome: 'fail', code: 'connect_refused' },
  ]);
  const keep = (atMs: number, message: string, evidence: object, probeId = one) =>
    worker.query(sql.unsafe`
      insert into result_evidence (e, monitor_id, probe_id, message, evidence)
      values (${sql.timestamp(new Date(atMs))}, ${id}, ${probeId}, ${message}, ${JSON.stringify(evidence)}::jsonb)`);
  await keep(startMs - 50_000, 'an older one', { address: '192.0.2.7' });
  await keep(startMs, 'It expired.', {
    address: '192.0.2.1',
    certificate: { subject: 'CN=shop' },
    rtt_min_us: 1_500,
    details: { rtt_average_us: 2_500, slow: 1 },
  });
  await keep(startMs + 30_000, 'It refuses.', { address: '192.0.2.2' });
  await keep(startMs - 15_000, 'the last before', {}, two);
  await keep(startMs + 1_000, 'one after', {}, two);
  await keep(startMs - 25_000, 'of an outage before', {}, three);
  await keep(startMs + 2_000, 'the first after', {}, three);
  const evidence = {
    rule: 'some_failing',
    quorum: 2,
    voters: [
      { voter: 0, vote: 'UP', sinceUs: (startMs - 5_000) * 1_000, error: 0 },
      { voter: one, vote: 'DOWN', sinceUs: startMs * 1_000, error: errorCodes.tls_expired },
      { voter: two, vote: 'DOWN', sinceUs: (startMs - 20_000) * 1_000, error: errorCodes.http_status },
      { voter: three, vote: 'TIMEOUT', sinceUs: (startMs - 20_000) * 1_000, error: errorCodes.http_timeout },
    ],
    missing: [four],
  };
  const rangeId = await worker.oneFirst(sql.type(z.object({ id: z.bigint() }))`
    insert into status_ranges (monitor_id, started_at, status, evidence)
    values (${id}, ${sql.timestamp(new Date(startMs))}, 'DEGRADED', ${JSON.stringify(evidence)}::jsonb) returning id`);
  await worker.query(sql.unsafe`
    insert into diagnoses (workspace_id, monitor_id, since, due_at, state, made_at, failing_probe_id, failing, passing_probe_id,
      passing, differences, summary)
    values (${api.workspaceId}, ${id}, ${sql.timestamp(new Date(startMs))}, now(), 'made', now(), ${one}, '{"host": "a", "port": 0, "dns": {"addresses": [], "duration_us": 1, "failures": []}, "connections": []}', ${two},
      null, '[{"field": "answer.status", "a": 503, "b": 200}, {"field": "dns.duration_us", "a": 900500, "b": null}]', 'They differ.')`);
  const path = `/api/v1/monitors/${id}/status-ranges/${rangeId}/evidence`;
  const { status, body } = await api.call('GET', path, { token: api.token });
  t.equal(status, 200);
  t.ok(readRangeEvidenceRoute.success.answer?.safeParse(body).success);
  t.match(body, {
    monitor_id: id,
    range_id: Number(rangeId),
    status: 'DEGRADED',
    started_at: new Date(startMs).toISOString(),
    ended_at: null,
    rule: 'some_failing',
    quorum: 2,
    quorum_out_of_reach: false,
    votes: [
      { probe_id: null, probe_name: null, region: 'central', vote: 'UP', error_code: null, evidence: null },
      {
        probe_id: one,
        probe_name: 'probe a',
        region: 'eu',
        vote: 'DOWN',
        since: new Date(startMs).toISOString(),
        error_code: 'tls_expired',
        message: 'It expired.',
        phase: 'tls',
        address: '192.0.2.1',
        certificate: { subject: 'CN=shop' },
        evidence: { rtt_min_ms: 1.5, details: { rtt_average_ms: 2.5, slow: 1 } },
      },
      { probe_name: 'probe b', vote: 'DOWN', phase: 'answer', message: 'the last before', certificate: null },
      { probe_name: 'probe c', vote: 'TIMEOUT', message: 'the first after' },
    ],
    missing: [{ probe_id: four, probe_name: 'probe d', region: 'ap' }],
    diagnoses: [
      {
        state: 'made',
        summary: 'They differ.',
        failing: { probe_id: one, probe_name: 'probe a', diagnosis: { host: 'a', dns: { duration_ms: 0.001 } } },
        passing: { probe_id: two, diagnosis: null },
        differences: [
          { field: 'answer.status', failing: 503, passing: 200 },
          { field: 'dns.duration_ms', failing: 900.5, passing: null },
        ],
      },
    ],
  });
  t.same(engineRecordsIn(body), [], 'nothing of it is as the engine recorded it');
  const listed = await api.call('GET', `/api/v1/monitors/${id}/status-ranges`, { token: api.token });
  t.match(listed.body['status_ranges'], [
    {
      evidence: {
        rule: 'some_failing',
        quorum: 2,
        votes: [
          { probe_id: null, probe_name: null, region: 'central', vote: 'UP', error_code: null },
          { probe_id: one, probe_name: 'probe a', region: 'eu', vote: 'DOWN', error_code: 'tls_expired' },
          { probe_name: 'probe b', since: new Date(startMs - 20_000).toISOString(), error_code: 'http_status' },
          { probe_name: 'probe c', vote: 'TIMEOUT', error_code: 'http_timeout' },
        ],
        missing: [{ probe_id: four, probe_name: 'probe d', region: 'ap' }],
      },
    },
  ]);

  const plain = await worker.oneFirst(sql.type(z.object({ id: z.bigint() }))`
    insert into status_ranges (monitor_id, started_at, ended_at, status)
    values (${id}, now() - interval '2 days', now() - interval '1 day', 'UP') returning id`);
  t.match((await api.call('GET', path.replace(`ranges/${rangeId}/`, `ranges/${plain}/`), { token: api.token })).body, {
    status: 'UP',
    rule: null,
    votes: [],
    missing: [],
    diagnoses: [],
  });

  const viewer = await api.account('viewer@example.com');
  const stranger = await api.account('stranger@example.com');
  await addMember(api.database, api.workspaceId, viewer.id, 'viewer');
  t.equal((await api.call('GET', path, { token: viewer.accessToken })).status, 200);
  t.equal((await api.call('GET', path, { token: stranger.accessToken })).status, 404);
  t.equal((await api.call('GET', path)).status, 401);
  const other = await api.monitor({ name: 'another' });
  const wrong = `/api/v1/monitors/${other.id}/status-ranges/${rangeId}/evidence`;
  t.equal((await api.call('GET', wrong, { token: api.token })).status, 404, 'a range of another monitor');
  const none = `/api/v1/monitors/${id}/status-ranges/999999999999999/evidence`;
  t.equal((await api.call('GET', none, { token: api.token })).status, 404);
});

void t.test('the database itself keeps diagnoses of others away', async (t) => {
  const api = await monitorsApi(t);
  const { id } = await api.monitor();
  await api.database.worker.query(sql.unsafe`
    insert into diagnoses (workspace_id, monitor_id, since, due_at) values (${api.workspaceId}, ${id}, now(), now())`);
  const count = (workspaces: string) =>
    api.database.api.transaction(async (tx) => {
      await tx.query(sql.unsafe`select set_config('parallax.workspaces', ${workspaces}, true)`);
      return tx.oneFirst(sql.type(z.object({ count: z.bigint() }))`select count(*) as count from diagnoses`);
    });
  t.equal(await count(String(api.workspaceId)), 1n);
  t.equal(await count(String(api.workspaceId + 1)), 0n);
  t.equal(await count(''), 0n);
});
