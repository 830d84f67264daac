import { existsSync } from 'node:fs';
import path from 'node:path';
import { protocols } from '@parallax/checks';
import type { Test } from 'tap';
import { eventually } from '../../harness/processes.ts';
import { type ApiClient, enrolAgent, signedIn, startProduct, untilOnline } from '../../harness/product.ts';
import { type Case, createWorld } from './case.ts';
import { families, type Family } from './families.ts';

type Result = {
  readonly outcome: string;
  readonly error_code: string | null;
  readonly failure_source: string | null;
  readonly message: string | null;
  readonly probe_id: number | null;
};
type Results = { readonly results: readonly Result[] };
type Ranges = {
  readonly status_ranges: readonly { readonly status: string; readonly ended_at: string | null }[];
};
type Watched = { readonly protocol: string; readonly one: Case; readonly path: string };

/** How long all monitors together may take to become what they should be; some seconds on a machine that has nothing else to do. */
const phaseMs = 60_000;

/**
 * One product with one probe, and a monitor of each type that goes through the API: UP while its server runs, and when the server has
 * ended DOWN (or TIMEOUT where nobody refuses) with the right code and failure source.
 */
export async function tellStory(t: Test, family: Family): Promise<void> {
  await t.test('every check type is in one story', async (t) => requireEveryType(t));
  const world = await createWorld(t);
  const [product, cases] = await Promise.all([
    startProduct(),
    Promise.all(
      Object.entries(families[family]).map(async ([protocol, start]) => ({ protocol, one: await start(world) })),
    ),
  ]);
  t.teardown(product.stop);
  const { api, workspaceId } = await signedIn(product.baseUrl);
  const environment = Object.assign({}, ...cases.map(({ one }) => one?.agent)) as Record<string, string>;
  const agent = await enrolAgent(product, api, { name: 'probe', region: 'here', environment });
  const running = agent.start();
  t.teardown(() => running.stop());
  await untilOnline(api, 1);

  const watched: Watched[] = [];
  for (const { protocol, one } of cases) {
    if (one === undefined) continue;
    await t.test(`${protocol}: the API takes a monitor of it`, async () => {
      const { id } = await api.call<{ id: number }>('POST', '/api/v1/monitors', 201, {
        workspace_id: workspaceId,
        name: protocol,
        protocol,
        url: one.url,
        settings: one.settings ?? {},
        interval_seconds: 2,
        timeout_seconds: one.timeoutSeconds ?? 5,
        confirmations: 1,
        probe_ids: [agent.probeId],
      });
      watched.push({ protocol, one, path: `/api/v1/monitors/${id}` });
    });
  }
  let left = countdown(phaseMs);
  for (const each of watched) {
    await t.test(`${each.protocol}: up while its server runs`, async (t) => {
      const result = await untilResult(api, each, 'UP', (found) => found.outcome === 'ok', left());
      t.match(result, { error_code: null, failure_source: null, probe_id: agent.probeId });
    });
  }
  await Promise.all(watched.map(({ one }) => one.stop()));
  left = countdown(phaseMs);
  for (const each of watched) {
    const { status = 'DOWN', code = 'connect_refused' } = each.one.down ?? {};
    await t.test(`${each.protocol}: ${status} by ${code} when its server has ended`, async (t) => {
      const result = await untilResult(api, each, status, (found) => found.error_code === code, left());
      const outcome = status === 'DOWN' ? 'fail' : 'timeout';
      t.match(result, { outcome, failure_source: 'target', probe_id: agent.probeId });
      const { results } = await api.call<Results>('GET', `${each.path}/results?page_size=100`, 200);
      const first = results.findLast((found) => found.error_code === code);
      t.match(first?.message, /\w/, 'the first of such results says it in words');
      const { status_ranges } = await api.call<Ranges>('GET', `${each.path}/status-ranges`, 200);
      t.match(status_ranges[0], { status, ended_at: null, evidence: { votes: [{ probe_id: agent.probeId }] } });
      t.equal(status_ranges[1]?.status, 'UP', 'it was up before');
    });
  }
}

function requireEveryType(t: Test): void {
  const stories = Object.entries(families);
  for (const [name] of stories) {
    t.ok(existsSync(path.join(import.meta.dirname, `../check-types-${name}.test.ts`)), `the story ${name} is told`);
  }
  for (const protocol of protocols) {
    const told = stories.filter(([, types]) => Object.hasOwn(types, protocol)).map(([name]) => name);
    t.equal(told.length, 1, `${protocol} is in: ${told.join(', ') || 'no story'}`);
  }
}

/** Milliseconds that are left of a time; at least one second, so that what has come to pass meanwhile is seen. */
function countdown(wholeMs: number): () => number {
  const end = performance.now() + wholeMs;
  return () => Math.max(1000, end - performance.now());
}

/**
 * Resolves with the newest result when the monitor has the status and that result is as wanted. A turn that was skipped since the check
 * before it still ran (a browser on a busy machine) is no result.
 */
async function untilResult(
  api: ApiClient,
  each: Watched,
  status: string,
  isWanted: (newest: Result) => boolean,
  timeoutMs: number,
): Promise<Result> {
  return eventually(
    `${status} and a result that says why`,
    async () => {
      const monitor = await api.call<{ status: string }>('GET', each.path, 200);
      const { results } = await api.call<Results>('GET', `${each.path}/results?page_size=20`, 200);
      const newest = results.find(({ outcome }) => outcome !== 'skipped');
      if (newest !== undefined && monitor.status === status && isWanted(newest)) return newest;
      throw new Error(`it is ${monitor.status}, and the newest result is ${JSON.stringify(newest)}`);
    },
    { timeoutMs },
  );
}
