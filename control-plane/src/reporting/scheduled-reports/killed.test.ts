import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { createSealer } from '../../platform/crypto/seal.ts';
import { sql } from '../../platform/database/pools.ts';
import { testDatabase } from '../../platform/database/testing.ts';
import { measuredMonitors } from './test-week.ts';
import { dayMs, reportsApi } from './testing.ts';

/** Milliseconds after a run was claimed: while it reads, while it draws, while it commits, after it. */
const killedAfterMs = [0, 100, 300, 600, 1_000, 2_000];

void t.test('a maker that is killed at whatever moment leaves all of a report or nothing', async (t) => {
  const { urls, database } = await testDatabase(t);
  const key = randomBytes(32);
  const api = await reportsApi(t, { sealer: createSealer(key) }, database);
  const { worker } = database;
  await measuredMonitors(api, 4, Math.floor(Date.now() / dayMs) * dayMs);
  const { id } = await api.report({ formats: ['pdf', 'csv'] });
  await api.send();
  const count = (from: ReturnType<typeof sql.fragment>) =>
    worker.oneFirst(sql.type(z.object({ n: z.number() }))`select count(*)::integer as n from ${from}`);
  const openRuns = sql.fragment`scheduled_report_runs where status in ('queued', 'running')`;
  const runningRuns = sql.fragment`scheduled_report_runs where status = 'running'`;
  let interrupted = 0;
  for (const [index, afterMs] of killedAfterMs.entries()) {
    await worker.query(sql.unsafe`delete from rate_limits`);
    t.equal((await api.reports('POST', `/${id}/run`)).status, 202);
    const fixture = path.join(import.meta.dirname, 'killed.fixture.ts');
    const child = spawn(process.execPath, [fixture, JSON.stringify(urls), key.toString('base64')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(child, 'exit');
    while (child.exitCode === null && (await count(openRuns)) === 1 && (await count(runningRuns)) === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    child.kill('SIGKILL');
    await ended;
    // The connections of the dead one end a moment later, and their transactions with them.
    await worker.query(sql.unsafe`select pg_sleep(0.1)`);
    const isOpen = (await count(openRuns)) === 1;
    if (isOpen) interrupted += 1;
    t.equal(await count(sql.fragment`scheduled_report_files`), 2 * (index + (isOpen ? 0 : 1)), 'no file of half a run');
    await worker.query(
      sql.unsafe`update scheduled_report_runs set due_at = now() - interval '1 second' where status = 'running'`,
    );
    await api.make();
    t.match(await api.lastRun(id), { status: 'sent' }, `killed after ${afterMs} ms`);
    t.equal(await count(sql.fragment`scheduled_report_files`), 2 * (index + 1));
    t.equal((await api.send()).length, 1, 'one mail');
  }
  t.ok(interrupted > 0, `${interrupted} of ${killedAfterMs.length} were interrupted`);
});
