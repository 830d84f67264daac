import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { statusOfRunningAgent } from '../../probe-agent/src/state/lock.ts';
import { pidOf } from '../harness/children.ts';
import { enrolAgent, signedIn, startProduct } from '../harness/product.ts';
import { eventually } from '../harness/processes.ts';
import { startTarget } from '../harness/target.ts';

type Results = { results: { created_at: string; status: string; error_code: string | null }[]; total: number };
type Ranges = { status_ranges: { status: string; started_at: string; ended_at: string | null }[] };

const sourceAddress = '127.0.0.31';

t.test(
  'an agent that is killed while control plane and broker are away starts from its sealed cache, and nothing of that time is lost',
  { timeout: 120_000 },
  async (t) => {
    const target = await startTarget();
    const product = await startProduct();
    const { api, workspaceId } = await signedIn(product.baseUrl);
    const agent = await enrolAgent(product, api, { name: 'alone', region: 'nowhere', sourceAddress });
    let running = agent.start();
    t.teardown(async () => {
      product.supervisor.kill('SIGCONT');
      await running.stop();
      await product.stop();
      await target.close();
    });
    const monitor = await api.call<{ id: number }>('POST', '/api/v1/monitors', 201, {
      workspace_id: workspaceId,
      name: 'the target',
      url: `${target.url}path-that-nobody-reads`,
      protocol: 'http',
      interval_seconds: 1,
      timeout_seconds: 1,
    });
    const monitorPath = `/api/v1/monitors/${monitor.id}`;
    const untilAsked = (times: number, what: string) => {
      const before = target.asked(sourceAddress).length;
      return eventually(what, async () => target.asked(sourceAddress).length >= before + times);
    };
    const sealed = path.join(agent.stateDir, 'assignments.sealed');
    await eventually('UP', async () => (await api.call<{ status: string }>('GET', monitorPath, 200)).status === 'UP');
    await eventually('the sealed assignments', async () => existsSync(sealed));
    t.notOk(readFileSync(sealed).includes('path-that-nobody-reads'), 'nobody reads them on the disk');

    // The supervisor is held, so that it does not start them again.
    product.supervisor.kill('SIGSTOP');
    process.kill(pidOf(product, 'control-plane'), 'SIGKILL');
    process.kill(pidOf(product, 'nats-server'), 'SIGKILL');
    const cutAt = Date.now();
    await untilAsked(3, 'checks going on');
    running.kill('SIGKILL');
    await running.ended;
    const killedAt = Date.now();
    running = agent.start();
    await untilAsked(5, 'checks by the agent that was started anew');
    const backAt = Date.now();
    product.supervisor.kill('SIGCONT');

    await eventually('the API again', async () => (await fetch(`${product.baseUrl}/health/readiness`)).ok, {
      timeoutMs: 30_000,
    });
    const asked = target.asked(sourceAddress).filter((at) => at > cutAt && at < backAt);
    // A check whose result was not yet synced when the agent was killed may be missing; no other.
    const mustBeThere = asked.filter((at) => at < killedAt - 1_000 || at > killedAt);
    t.ok(mustBeThere.length >= 6, 'there is something to be missing');
    const resultsOf = async (): Promise<number[]> => {
      const { results } = await api.call<Results>('GET', `${monitorPath}/results?page_size=100`, 200);
      return results.map((result) => Date.parse(result.created_at));
    };
    await eventually(
      'every check of that time',
      async () => {
        const times = await resultsOf();
        const missing = mustBeThere.filter((at) => !times.some((time) => time <= at + 50 && time > at - 900));
        if (missing.length > 0) throw new Error(`${missing.length} of ${mustBeThere.length} are missing`);
        return true;
      },
      { timeoutMs: 30_000 },
    );
    const times = await resultsOf();
    const offs = mustBeThere.map((at) => at - Math.max(...times.filter((time) => time <= at + 50)));
    t.ok(
      offs.filter((off) => off < 250).length >= offs.length / 2,
      `dated at their start: ${offs.join(', ')} ms before they arrived`,
    );
    const { results } = await api.call<Results>('GET', `${monitorPath}/results?page_size=100`, 200);
    t.same(
      results.filter((result) => result.error_code !== null),
      [],
      'none became the fault of the probe',
    );
    const ranges = await eventually('one range without a gap', async () => {
      const { status_ranges } = await api.call<Ranges>('GET', `${monitorPath}/status-ranges`, 200);
      if (status_ranges.length !== 1) throw new Error(JSON.stringify(status_ranges));
      return status_ranges;
    });
    t.match(ranges[0], { status: 'UP', ended_at: null });
    t.ok(Date.parse(ranges[0]?.started_at ?? '') < cutAt, 'from before the cut');
    t.match(running.output(), /kept assignments are checked/, 'the agent says what it does');
    await eventually('the agent to learn what is committed, long before it would send it again', async () => {
      const status = await statusOfRunningAgent(agent.stateDir);
      return Number(status?.['unacknowledged_results']) < 5;
    });
  },
);
