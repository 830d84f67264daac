import { execFile } from 'node:child_process';
import { program } from '@parallax/testkit/program';
import t from 'tap';
import { insertMonitors, insertProbe, insertWorkspace } from '../monitoring/check-results/ingest/testing/fixture.ts';
import { testDatabase } from '../platform/database/testing.ts';

const { urls, database } = await testDatabase(t);
const pool = database.raw;
const hourMs = 3_600_000;
const createdMs = Math.floor(Date.now() / hourMs) * hourMs - 10 * hourMs;
const owner = await insertWorkspace(pool);
const probe = await insertProbe(pool, 'eu');
const [monitor = 0] = await insertMonitors(pool, owner, { count: 1, probes: [probe], createdMs });

/** Runs the command as an operator does. */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const main = program('control-plane/src/main.ts');
  const env = {
    PATH: process.env['PATH'],
    PARALLAX_DATABASE_URL: urls.owner,
    PARALLAX_DATABASE_WORKER_URL: urls.worker,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, 'recompute', ...args], { env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

t.test('a monitor that is as it should be ends with 0, one that is not with 1 and with what is wrong', async (t) => {
  await pool.query('update shards set folded_until = $1', [new Date(createdMs + 5 * hourMs)]);
  const sound = await run('--monitor', String(monitor));
  t.match(sound, { code: 0, err: '' });
  t.match(sound.out, /^no difference \(from .* to .*\)\n$/);
  await pool.query(`insert into status_ranges (monitor_id, started_at, ended_at, status) values ($1, $2, $3, 'UP')`, [
    monitor,
    new Date(createdMs + hourMs),
    new Date(createdMs + 2 * hourMs),
  ]);
  const wrong = await run('--monitor', String(monitor));
  const shown = (ms: number) => new Date(ms).toISOString();
  t.match(wrong, { code: 1, err: '' });
  t.match(
    wrong.out,
    `range from ${shown(createdMs + hourMs)} to ${shown(createdMs + 2 * hourMs)}: should be none, is UP`,
  );
  t.match(wrong.out, /\n1 difference /);
  t.equal((await run('--monitor', String(monitor), '--from', shown(createdMs + 3 * hourMs))).code, 0, 'elsewhere');
  const waiting = await run('--monitor', String(monitor), '--write');
  t.match(waiting, { code: 1, err: '' });
  t.match(waiting.out, /are put right when the ingest of their shard runs/);
});

t.test('what is asked wrongly is told', async (t) => {
  t.match(await run('--monitor', '99999'), { code: 1, out: '', err: /there is no monitor 99999\n$/ });
  t.match((await run('--monitor', '1', '--from', 'yesterday')).err, /a time in UTC is expected/);
});
