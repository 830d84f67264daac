import t from 'tap';
import { certificatesCapability } from '../monitoring/certificates/index.ts';
import { dnsblCapability } from '../monitoring/dnsbl/index.ts';
import { groupBody, groupStage } from '../monitoring/groups/check/testing.ts';
import { slaCapability } from './sla/index.ts';
import { statisticsCapability } from './statistics/index.ts';

const noTimes = { count: 0, mean_ms: null, min_ms: null, max_ms: null, p50_ms: null, p99_ms: null };

type Stage = Awaited<ReturnType<typeof groupStage>>;

/** A group monitor that was UP, DEGRADED, DOWN and is DEGRADED. */
async function outage(s: Stage): Promise<number> {
  const [one, two] = [await s.monitor('one'), await s.monitor('two')];
  const both = await s.monitor('both', groupBody({ monitor_ids: [two, one], minimum_up: 1 }));
  s.start();
  await s.send(one, 'ok');
  await s.send(two, 'ok');
  await s.statusIs(both, 'UP');
  await s.send(one, 'fail');
  await s.statusIs(both, 'DEGRADED');
  await s.send(two, 'fail');
  await s.statusIs(both, 'DOWN');
  await s.send(two, 'ok');
  await s.statusIs(both, 'DEGRADED');
  return both;
}

const central = { probe_id: null, name: 'control plane' };

void t.test('what a group monitor was is reported as of any monitor, without response times', async (t) => {
  const s = await groupStage(t, {
    more: [statisticsCapability, slaCapability, certificatesCapability, dnsblCapability],
  });
  const both = await outage(s);
  const get = async (path: string) => {
    const answer = await s.call('GET', `/monitors/${both}${path}`);
    t.equal(answer.status, 200, path);
    return answer.body;
  };
  t.match(await get(''), { last_response_time_ms: null, last_checked_at: String, uptime_24h: Number });
  const listed = await s.call('GET', '/monitors?sort=response&order=asc');
  t.match(listed.body, { monitors: [{}, {}, { id: both, last_response_time_ms: null }] }, 'none sorts last');

  const stats = await get('/stats');
  t.match(stats, {
    outages: 1,
    response_time: noTimes,
    checks: { fail: 1 },
    probes: [{ ...central, response_time: noTimes }],
  });
  const { seconds, downtime_seconds: downtime } = stats as {
    seconds: Record<string, number>;
    downtime_seconds: number;
  };
  t.ok((seconds['up'] ?? 0) > 0 && (seconds['degraded'] ?? 0) > 0 && (seconds['down'] ?? 0) > 0);
  t.equal(seconds['down'], downtime);
  t.match(await get('/response-time-distribution'), { ...noTimes, histogram: [] });

  const { status_ranges: ranges } = (await get('/status-ranges')) as {
    status_ranges: { id: number; status: string; started_at: string; ended_at: string }[];
  };
  t.same(
    ranges.map(({ status }) => status),
    ['DEGRADED', 'DOWN', 'DEGRADED', 'UP'],
  );
  const down = ranges[1];
  const sla = await get('/sla?slo_target=99');
  t.match(sla, {
    incidents: 1,
    outages: [
      {
        started_at: down?.started_at,
        ended_at: down?.ended_at,
        status: 'DOWN',
        cause: 'members_down, seen by the control plane',
      },
    ],
    mttr_seconds: Number,
    response_time: noTimes,
    probes: [{ ...central, response_time: noTimes }],
    error_budget: { is_met: Boolean },
  });
  for (const format of ['csv', 'pdf']) {
    const file = await s.call('GET', `/monitors/${both}/sla/export/${format}`);
    t.equal(file.status, 200, format);
  }
  const evidence = await get(`/status-ranges/${down?.id}/evidence?replay=true`);
  t.match(evidence, { replay: { differences: [], evidence_differences: [] } });

  const timeline = (await get('/timeline')) as { source: string; timeline: Record<string, unknown>[] };
  t.equal(timeline.source, 'results');
  t.match(timeline.timeline.at(-1), { status: 'DEGRADED', probe_id: null, is_fallback: false, response_time_ms: null });
  t.ok(timeline.timeline.some((entry) => entry['status'] === 'DOWN' && entry['started_at'] === down?.started_at));
  const ofProbe = (await get(`/timeline?probe_id=${s.w.probe.id}`)) as { timeline: unknown[] };
  t.same(ofProbe.timeline, [], 'no probe looks at it');
  const { results } = (await get('/results')) as { results: Record<string, unknown>[] };
  for (const result of results)
    t.match(result, { probe_id: null, is_manual: false, is_fallback: false, response_time_ms: null });

  t.same(await get('/dnsbl/provider-history'), []);
  const chain = await s.call('GET', `/monitors/${both}/cert-chain`);
  t.match([chain.status, chain.body['errors']], [422, [{ code: 'no_tls' }]]);
});

void t.test('a group monitor is checked by hand, simulated and reset as any other', async (t) => {
  const s = await groupStage(t, { more: [statisticsCapability, slaCapability] });
  const both = await outage(s);
  const before = (await s.call('GET', `/monitors/${both}/status-ranges`)).body;
  const checked = await s.call('POST', `/monitors/${both}/check`);
  t.match(checked.body, {
    status: 'DEGRADED',
    response_time_ms: null,
    results: [{ probe_id: null, error_code: 'members_down', response_time_ms: null }],
  });
  t.same((await s.call('GET', `/monitors/${both}/status-ranges`)).body, before, 'it decides nothing');
  t.match((await s.call('GET', `/monitors/${both}/results?page_size=1`)).body, { results: [{ is_manual: true }] });

  const same = await s.call('POST', `/monitors/${both}/simulate`, {});
  t.match(same.body, {
    present: { outages: [{ status: 'DOWN' }], settings: { probe_ids: [], confirmations: 1 } },
    proposed: { outages_total: 1 },
    comparison: { downtime_seconds: 0 },
  });
  const patient = await s.call('POST', `/monitors/${both}/simulate`, { confirmations: 2 });
  t.match(patient.body, { proposed: { outages_total: 0 }, notes: [{ code: 'more_confirmations' }, {}] });
  const threshold = await s.call('POST', `/monitors/${both}/simulate`, { degraded_threshold_ms: 1 });
  t.match(threshold.body, { comparison: { downtime_seconds: 0 } }, 'what takes no time is slower than nothing');
  const probed = await s.call('POST', `/monitors/${both}/simulate`, { probe_ids: [s.w.probe.id] });
  t.match([probed.status, probed.body['errors']], [422, [{ code: 'not_measured' }]]);

  const reset = await s.call('POST', `/monitors/${both}/reset-stats`, { confirm: true });
  t.match(reset.body, { removed: { results: Number, status_ranges: Number, probe_ranges: Number } });
  const { removed } = reset.body as { removed: Record<'status_ranges' | 'probe_ranges', number> };
  // The ingest hears of the reset too, and may have ended or removed the open one first.
  t.ok(removed.status_ranges >= 3 && removed.status_ranges <= 4, `${removed.status_ranges} status ranges`);
  t.ok(removed.probe_ranges >= 3 && removed.probe_ranges <= 4, `${removed.probe_ranges} ranges of probes`);
  await s.statusIs(both, 'DEGRADED');
  const anew = (await s.call('GET', `/monitors/${both}/status-ranges`)).body as {
    status_ranges: { status: string; started_at: string }[];
  };
  t.match(anew.status_ranges, [{ status: 'DEGRADED' }]);
  t.ok((anew.status_ranges[0]?.started_at ?? '') >= String(reset.body['reset_at']), 'nothing is dated to before it');
  t.match((await s.call('GET', `/monitors/${both}/stats`)).body, {
    clamped_by: 'reset',
    outages: 0,
    downtime_seconds: 0,
    checks: { fail: 0, manual: 0 },
  });
  t.match((await s.call('GET', `/monitors/${both}/sla`)).body, { incidents: 0, outages: [] });
});
