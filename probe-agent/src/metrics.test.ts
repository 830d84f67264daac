import { leakGuard } from '@parallax/testkit';
import t from 'tap';
import { createAgentMetrics } from './metrics.ts';

leakGuard(t);

t.test('what an agent does is served for Prometheus; what is not known has no value', async (t) => {
  let status: { pid: number } & Record<string, unknown> = { pid: 1 };
  const metrics = createAgentMetrics(() => status);
  const listener = await metrics.listen(0);
  t.teardown(() => listener.close());
  const read = async (): Promise<string> => (await fetch(`http://127.0.0.1:${listener.port}/metrics`)).text();
  t.notMatch(await read(), /^parallax_probe_clock_rate\{/m);
  metrics.observer.recorded('ok', 'scheduled');
  metrics.observer.recorded('ok', 'scheduled');
  metrics.observer.recorded('fail', 'recheck');
  metrics.observer.began(3);
  metrics.observer.began(2_000);
  metrics.observer.began(2_001);
  metrics.observer.skipped('overload');
  status = { pid: 1, unacknowledged_results: 17, session_connected: true, clock_rate: 1.001 };
  const text = await read();
  for (const line of [
    /^parallax_probe_results_total\{outcome="ok",kind="scheduled",program="probe-agent"\} 2$/m,
    /^parallax_probe_results_total\{outcome="fail",kind="recheck",program="probe-agent"\} 1$/m,
    /^# TYPE parallax_probe_check_lateness_seconds histogram$/m,
    /^parallax_probe_check_lateness_seconds_bucket\{le="2",program="probe-agent"\} 2$/m,
    /^parallax_probe_check_lateness_seconds_bucket\{le="\+Inf",program="probe-agent"\} 3$/m,
    /^parallax_probe_check_lateness_seconds_sum\{program="probe-agent"\} 4.004$/m,
    /^parallax_probe_check_lateness_seconds_count\{program="probe-agent"\} 3$/m,
    /^parallax_probe_check_lateness_seconds_bucket\{le="0.005",program="probe-agent"\} 1$/m,
    /^parallax_probe_check_lateness_seconds_bucket\{le="0.002",program="probe-agent"\} 0$/m,
    /^parallax_probe_skipped_slots_total\{why="overload",program="probe-agent"\} 1$/m,
    /^parallax_probe_results_waiting\{program="probe-agent"\} 17$/m,
    /^parallax_probe_session_up\{program="probe-agent"\} 1$/m,
    /^parallax_probe_clock_rate\{program="probe-agent"\} 1.001$/m,
    /^process_cpu_user_seconds_total/m,
  ])
    t.match(text, line);
  status = { pid: 1 };
  t.notMatch(await read(), /^parallax_probe_clock_rate\{/m, 'nor the one of before');
  await t.rejects(metrics.listen(listener.port), /EADDRINUSE/);
});
