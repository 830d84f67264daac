import { openResources } from '@parallax/testkit';
import t from 'tap';
import { RenderProcess } from './render-process.ts';
import type { TestJob } from './testing/slow-renderer.ts';

const program = new URL('./testing/slow-renderer.ts', import.meta.url);
const limits = { maxWaiting: 3, maxMs: 60_000, maxHeapMb: 64, idleMs: 60_000 };

async function codeOf(job: Promise<Buffer>): Promise<unknown> {
  return job.then(
    () => 'rendered',
    (error: { code?: unknown; message: string }) => error.code ?? error.message,
  );
}

t.test('jobs are rendered one after the other in one process', async (t) => {
  const renderer = new RenderProcess<TestJob>(program, limits);
  const files = await Promise.all([renderer.run('echo'), renderer.run('echo'), renderer.run('echo')]);
  t.same(files.map(String), ['file 1', 'file 2', 'file 3']);
});

t.test('a job that fails tells why and is not the last', async (t) => {
  const renderer = new RenderProcess<TestJob>(program, limits);
  t.equal(await codeOf(renderer.run('throw')), 'not this one');
  t.equal(String(await renderer.run('echo')), 'file 1', 'in the same process');
});

t.test('a job that takes too long is given up; those behind it get another process', async (t) => {
  const ownLimits = { ...limits, maxMs: 1 };
  const renderer = new RenderProcess<TestJob>(program, ownLimits);
  const hanging = codeOf(renderer.run('hang'));
  ownLimits.maxMs = limits.maxMs;
  t.equal(await codeOf(renderer.run('echo')), 'rendered');
  t.equal(await hanging, 'deadline_exceeded');
});

t.test('a process that ends, or takes more memory than it may, ends nothing else', async (t) => {
  const renderer = new RenderProcess<TestJob>(program, limits);
  const [ended, grown, next] = await Promise.all([
    codeOf(renderer.run('exit')),
    codeOf(renderer.run('grow')),
    codeOf(renderer.run('echo')),
  ]);
  t.equal(ended, 'internal');
  t.equal(grown, 'internal');
  t.equal(next, 'rendered');
});

t.test('more jobs than may wait are refused at once', async (t) => {
  const renderer = new RenderProcess<TestJob>(program, limits);
  const jobs = Array.from({ length: 6 }, () => codeOf(renderer.run('echo')));
  t.same(await Promise.all(jobs), ['rendered', 'rendered', 'rendered', 'rendered', 'busy', 'busy']);
});

t.test('a process without work keeps none alive and is ended', async (t) => {
  const before = openResources().get('ProcessWrap') ?? 0;
  const renderer = new RenderProcess<TestJob>(program, { ...limits, idleMs: 0 });
  await renderer.run('echo');
  t.equal(openResources().get('ProcessWrap') ?? 0, before);
  // Ended or about to be: either way the next job is rendered.
  for (let round = 0; round < 5; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    t.match(String(await renderer.run('echo')), /^file \d$/);
  }
});
