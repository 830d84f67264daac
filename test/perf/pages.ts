import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { prepareAnswer } from '../../control-plane/src/platform/http/prepared/prepared-answer.ts';
import { refreshDays } from '../../control-plane/src/reporting/day-sums/refresh.job.ts';
import { documentBases } from '../../control-plane/src/reporting/status-pages/documents.ts';
import { locales } from '../../control-plane/src/reporting/status-pages/view/locale.ts';
import { readPageView } from '../../control-plane/src/reporting/status-pages/view/index.ts';
import { percentile } from './agent/lateness.ts';
import { startDatabase } from './database.ts';
import { keepTo } from './pages/cores.ts';
import { alertsWithCrowd } from './pages/crowd.ts';
import { change, fillPages, insertLasting } from './pages/fill.ts';
import type { FilledPage } from './pages/fill.ts';
import type { Load, LoadPlan } from './pages/load.ts';
import { ask, end, startProcess } from './pages/processes.ts';
import { queueForSubscribers } from './pages/subscribers.ts';
import { processorTimeUs } from './processor-time.ts';
import type { Bench, Figures } from './report.ts';

const sizes = {
  full: {
    monitors: 1_000,
    days: 90,
    incidentsADay: 20,
    pages: 500,
    rounds: 25,
    readers: 256,
    seconds: 5,
    perSecond: 1_000,
    changes: 20,
    awaySeconds: 45,
    subscribers: 10_000,
    crowd: { readers: 256, perSecond: 10_000, fails: 15, everyMs: 500, turns: 2 },
  },
  brief: {
    monitors: 60,
    days: 5,
    incidentsADay: 1,
    pages: 3,
    rounds: 3,
    readers: 16,
    seconds: 0.1,
    perSecond: 100,
    changes: 2,
    awaySeconds: 1,
    subscribers: 100,
    // It starts the whole product; a test has a smaller one.
    crowd: undefined,
  },
} as const;
type Size = (typeof sizes)[keyof typeof sizes];

/** What status pages cost: to read and to render anew, to send from memory, while something changes, and while the database is away. */
export const pagesBench: Bench = {
  name: 'pages',
  summary:
    'status pages of 40 components: made anew, from memory, while incidents change, without the database, and beside alerts',
  run: async (say, options) => {
    const undo: (() => unknown)[] = [];
    try {
      const size = sizes[options?.brief === true ? 'brief' : 'full'];
      return await measure(say, size, options?.profiles, (step) => void undo.unshift(step));
    } finally {
      for (const step of undo) await step();
    }
  },
};

async function measure(
  say: (line: string) => void,
  size: Size,
  profiles: string | undefined,
  teardown: (step: () => unknown) => void,
) {
  const database = await startDatabase(say, teardown);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parallax-bench-pages-'));
  teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  say(`${size.monitors} monitors of ${size.days} days, ${size.pages} pages`);
  const pages = await fillPages(database.worker, { ...size, nowMs: Date.now() });
  await refreshDays({ database: database.all, now: Date.now });
  await database.owner.query('vacuum analyze');
  const [page] = pages;
  if (page === undefined) throw new Error('there is no page');

  say('a page made anew');
  const fresh = await measureFresh(database, page, size.rounds);
  const env = (port: number) => ({ BENCH_PAGES: JSON.stringify({ urls: database.urls, dataDir, port }) });
  const flags = profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`];
  const server = await startProcess('server.ts', env(0), ['--expose-gc', ...flags], teardown);
  const readers = await startProcess('readers.ts', {}, [], teardown);
  const world: World = { server: server.child, readers: readers.child, port: server.port };

  say('from memory');
  const cached = await measureCached(world, page, size, teardown);
  say(`${size.changes} changes, one a second, at ${size.perSecond} requests a second`);
  const changing = await measureChanges(world, database.worker, page, size);
  say(`an incident of a page with ${size.subscribers} subscribers`);
  const queued = await queueForSubscribers(database, pages.at(-1) ?? page, size.subscribers);
  say(`${size.pages} pages in memory`);
  const memory = await measureMemory(world, pages);
  say('PostgreSQL is stopped');
  const away = await measureAway(world, pages, size, () => database.stop());
  say('the process is started again without it');
  await end(world.server);
  const restartedMs = performance.now();
  const again = await startProcess('server.ts', env(world.port), [], teardown);
  await untilThere(`http://127.0.0.1:${world.port}/status/${page.slug}`);
  const restartMs = performance.now() - restartedMs;
  const restarted = await askAll({ ...world, server: again.child }, pages, { isReconnecting: true });
  await end(again.child);
  if (size.crowd !== undefined) say(`alerts of an outage, alone and beside ${size.crowd.perSecond} requests a second`);
  const crowd = size.crowd === undefined ? {} : await alertsWithCrowd(size.crowd, teardown);
  const figures = {
    ...cached,
    ...queued,
    ...crowd,
    ...changing,
    ...fresh,
    ...memory,
    ...away,
    restart_ms: round(restartMs),
    restarted_p99_ms: round(percentile(restarted.latenciesMs, 0.99)),
  } satisfies Figures;
  return { figures, table: tableOf(figures, size) };
}

type World = { readonly server: ChildProcess; readonly readers: ChildProcess; readonly port: number };

const htmlOf = documentBases
  .flatMap(({ documents }) => documents)
  .find(({ contentType, path: at }) => {
    return at === '' && contentType.startsWith('text/html');
  });

/** A page is read, rendered and compressed, as the first reader after a change waits for it. */
async function measureFresh(
  database: Awaited<ReturnType<typeof startDatabase>>,
  page: FilledPage,
  rounds: number,
): Promise<Figures> {
  const context = { database: database.all, publicUrl: 'http://127.0.0.1' };
  const make = async () => {
    const startedMs = performance.now();
    const view = await readPageView(context, page, Date.now());
    const readMs = performance.now() - startedMs;
    if (view === null || htmlOf === undefined) throw new Error('there is no page');
    const text = htmlOf.render(view, { locale: 'en', nowMs: Date.now(), id: '' }) ?? '';
    prepareAnswer(200, {}, text).body('gzip');
    const allMs = performance.now() - startedMs;
    const longest = locales
      .map((locale) => prepareAnswer(200, {}, htmlOf.render(view, { locale, nowMs: Date.now(), id: '' }) ?? ''))
      .toSorted((one, other) => other.body('identity').length - one.body('identity').length)[0];
    return {
      readMs,
      allMs,
      bytes: longest?.body('identity').length ?? 0,
      gzipBytes: longest?.body('gzip').length ?? 0,
    };
  };
  const cold = await make();
  const times: Awaited<ReturnType<typeof make>>[] = [];
  for (let n = 0; n < rounds * 2; n += 1) times.push(await make());
  const measured = times.slice(rounds);
  return {
    render_ms: round(
      percentile(
        measured.map(({ allMs }) => allMs),
        0.5,
      ),
    ),
    render_read_ms: round(
      percentile(
        measured.map(({ readMs }) => readMs),
        0.5,
      ),
    ),
    render_cold_ms: round(cold.allMs),
    page_bytes: cold.bytes,
    page_gzip_bytes: cold.gzipBytes,
  };
}

const gzip = 'accept-encoding: gzip';

/** As many requests as one core answers, whole pages and those that say that nothing is new, and what one costs the server and Node itself. */
async function measureCached(
  world: World,
  page: FilledPage,
  size: Size,
  teardown: (step: () => unknown) => void,
): Promise<Figures> {
  const url = `http://127.0.0.1:${world.port}/status/${page.slug}`;
  const first = await fetch(url);
  const etag = first.headers.get('etag') ?? '';
  if (!(await first.text()).includes('Component 40')) throw new Error('the page does not show its components');
  const plan = { paths: [`/status/${page.slug}`], readers: size.readers, seconds: size.seconds };
  await ask(world, { ...plan, headers: [gzip], seconds: size.seconds / 2 });
  const single = await ask(world, { ...plan, headers: [gzip], readers: 1, perSecond: 50 });
  const floor = await startFloor(url, teardown);
  const measured = async (child: ChildProcess, port: number, headers: readonly string[], status: string) => {
    const before = processorTimeUs(child.pid ?? 0);
    const load = await ask({ ...world, port }, { ...plan, headers, seconds: size.seconds / rounds });
    only(load, status);
    const us = processorTimeUs(child.pid ?? 0) - before;
    return { perSecond: load.answered / load.seconds, us: us / load.answered };
  };
  const isAlone = [world.server, floor.child].every(({ pid = 0 }) => keepTo(pid, 'first'));
  keepTo(world.readers.pid ?? 0, 'others');
  const [whole, same, bare]: Measured[][] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    whole?.push(await measured(world.server, world.port, [gzip], '200'));
    bare?.push(await measured(floor.child, floor.port, [gzip], '200'));
    same?.push(await measured(world.server, world.port, [gzip, `if-none-match: ${etag}`], '304'));
  }
  for (const { pid = 0 } of [world.server, world.readers]) keepTo(pid, 'any');
  await end(floor.child);
  return {
    ...ofRounds('requests_per_second', 'request_us', whole ?? []),
    ...ofRounds('floor_per_second', 'floor_us', bare ?? []),
    ...ofRounds('not_modified_per_second', 'not_modified_us', same ?? []),
    server_cores: isAlone ? 1 : availableParallelism(),
    first_byte_ms: round(percentile(single.latenciesMs, 0.5)),
  };
}

/** In turns, since the speed of a machine changes. */
const rounds = 5;
type Measured = { readonly perSecond: number; readonly us: number };

function ofRounds(perSecond: string, us: string, measured: readonly Measured[]): Figures {
  const middle = (of: (one: Measured) => number): number => percentile(measured.map(of), 0.5);
  return { [perSecond]: Math.round(middle((one) => one.perSecond)), [us]: round(middle((one) => one.us)) };
}

/** Node's own server, which sends the same without looking at what is asked. */
async function startFloor(of: string, teardown: (step: () => unknown) => void) {
  const { child } = await startProcess('floor.ts', {}, [], teardown);
  const answer = once(child, 'message');
  child.send({ of });
  const [{ port }] = (await answer) as [{ port: number }];
  return { child, port };
}

/** Readers at a rate while something is said of an incident once a second, and how long it takes until the page says it, too. */
async function measureChanges(world: World, pool: pg.Pool, page: FilledPage, size: Size): Promise<Figures> {
  const incidentId = await insertLasting(pool, page.workspaceId);
  const url = `http://127.0.0.1:${world.port}/status/${page.slug}`;
  const loading = ask(world, {
    paths: [`/status/${page.slug}`],
    headers: [gzip],
    readers: size.readers,
    perSecond: size.perSecond,
    seconds: size.changes + 1,
  });
  const seenMs: number[] = [];
  const beganMs = performance.now();
  for (let n = 1; n <= size.changes; n += 1) {
    await delay(Math.max(0, beganMs + n * 1_000 - performance.now()));
    const text = `This is change ${n}.`;
    await change(pool, { ...page, incidentId, text });
    const changedMs = performance.now();
    world.server.send('hint');
    while (!(await fetch(url).then((answer) => answer.text())).includes(text)) {
      if (performance.now() - changedMs > 20_000) throw new Error('a change is not seen');
      await delay(25);
    }
    seenMs.push(performance.now() - changedMs);
  }
  const load = await loading;
  only(load, '200');
  return {
    cached_p99_ms: round(percentile(load.latenciesMs, 0.99)),
    cached_p50_ms: round(percentile(load.latenciesMs, 0.5)),
    event_to_page_ms: round(percentile(seenMs, 0.99)),
    event_to_page_p50_ms: round(percentile(seenMs, 0.5)),
  };
}

async function measureMemory(world: World, pages: readonly FilledPage[]): Promise<Figures> {
  const before = await memoryOf(world);
  const load = await askAll(world, pages, {});
  const bytes = (await memoryOf(world)) - before;
  return {
    pages_memory_mib: round(bytes / 1024 / 1024),
    page_memory_bytes: Math.round(bytes / pages.length),
    first_read_ms: round(percentile(load.latenciesMs, 0.5)),
  };
}

async function memoryOf({ server }: World): Promise<number> {
  const answer = once(server, 'message');
  server.send('memory');
  const [{ bytes }] = (await answer) as [{ bytes: number }];
  return bytes;
}

/** PostgreSQL ends under readers; then each page is asked for once. */
async function measureAway(
  world: World,
  pages: readonly FilledPage[],
  size: Size,
  stop: () => Promise<unknown>,
): Promise<Figures> {
  const loading = ask(world, {
    paths: pages.slice(0, 20).map(({ slug }) => `/status/${slug}`),
    headers: [gzip],
    readers: size.readers,
    perSecond: size.perSecond / 2,
    seconds: size.awaySeconds,
  });
  await delay(Math.min(1_000, size.awaySeconds * 200));
  await stop();
  const load = await loading;
  only(load, '200');
  await askAll(world, pages, {});
  return {
    away_p99_ms: round(percentile(load.latenciesMs, 0.99)),
    away_longest_gap_ms: round(load.longestGapMs),
    away_answered: load.answered,
  };
}

/** Each page once. */
async function askAll(
  world: World,
  pages: readonly FilledPage[],
  more: Pick<LoadPlan, 'isReconnecting'>,
): Promise<Load> {
  const paths = pages.map(({ slug }) => `/status/${slug}`);
  const load = await ask(world, { ...more, paths, headers: [gzip], readers: 32, seconds: 600, most: paths.length });
  only(load, '200');
  if (load.answered < paths.length) throw new Error(`${load.answered} of ${paths.length} pages were answered`);
  return load;
}

/** Each request had an answer, and that. */
function only({ statuses, lost }: Load, status: string): void {
  const others = Object.entries(statuses).filter(([each]) => each !== status);
  if (others.length > 0 || lost > 0) throw new Error(`answers ${JSON.stringify(statuses)}, ${lost} without any`);
}

async function untilThere(url: string): Promise<void> {
  const deadlineMs = performance.now() + 30_000;
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.status === 200) return;
    if (performance.now() > deadlineMs) throw new Error(`${url} is not there: ${answer?.status ?? 'no answer'}`);
    await delay(10);
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;

function tableOf(figures: Figures, size: Size): (readonly [string, string])[] {
  const figure = (key: string): string => String(figures[key]);
  return [
    [
      `from memory, compressed, ${figure('server_cores')} of the cores`,
      `${figure('requests_per_second')} a second (goal 10,000), ${figure('request_us')} µs each (goal 40)`,
    ],
    ["the same bytes from Node's own server", `${figure('floor_per_second')} a second, ${figure('floor_us')} µs each`],
    ['nothing is new (304)', `${figure('not_modified_per_second')} a second, ${figure('not_modified_us')} µs each`],
    ['one reader alone', `${figure('first_byte_ms')} ms (goal 5)`],
    [
      `${size.perSecond} a second while something changes`,
      `p99 ${figure('cached_p99_ms')} ms (goal 20), median ${figure('cached_p50_ms')} ms`,
    ],
    [
      'from a change to the page',
      `p99 ${figure('event_to_page_ms')} ms (goal 2,000), median ${figure('event_to_page_p50_ms')} ms`,
    ],
    [
      'a page of 40 components made anew',
      `${figure('render_ms')} ms (goal 50), of which reading ${figure('render_read_ms')} ms; the first ${figure('render_cold_ms')} ms (goal 300)`,
    ],
    ['its bytes', `${figure('page_bytes')} (goal 60,000), compressed ${figure('page_gzip_bytes')}`],
    [
      `an incident is queued for ${size.subscribers} subscribers by mail`,
      `after ${figure('subscribers_queued_ms')} ms (goal 5,000), each once`,
    ],
    [`${size.pages} pages in memory`, `${figure('pages_memory_mib')} MiB (goal 256)`],
    [
      'while PostgreSQL is stopped',
      `all of ${figure('away_answered')} answered, p99 ${figure('away_p99_ms')} ms, longest gap ${figure('away_longest_gap_ms')} ms`,
    ],
    [
      'after a restart without it',
      `the first page after ${figure('restart_ms')} ms; all answered, p99 ${figure('restarted_p99_ms')} ms`,
    ],
    ...(size.crowd === undefined ? [] : crowdRows(figure)),
  ];
}

function crowdRows(figure: (key: string) => string): (readonly [string, string])[] {
  return [
    [
      'from an outage to its message, nobody reading',
      `median ${figure('alert_alone_p50_ms')} ms, at most ${figure('alert_alone_max_ms')} ms, of which 3000 wait for company`,
    ],
    [
      `the same beside ${figure('crowd_per_second')} answers a second from the page of the outage`,
      `median ${figure('alert_crowd_p50_ms')} ms, at most ${figure('alert_crowd_max_ms')} ms (goal 5,000); answers p99 ${figure('crowd_p99_ms')} ms`,
    ],
  ];
}
