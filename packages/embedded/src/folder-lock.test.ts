import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { leakGuard, type TestContext } from '@parallax/testkit';
import t from 'tap';
import { FolderInUseError } from './errors.ts';
import { lockFolder } from './folder-lock.ts';

leakGuard(t);

function folder(t: TestContext): string {
  const made = mkdtempSync('/tmp/parallax-lock-');
  t.teardown(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

for (const [kind, place] of [
  ['short', ''],
  ['deep', path.join('a'.repeat(60), 'b'.repeat(60))],
] as const) {
  t.test(`a ${kind} folder is held by one at a time, and the refusal names the folder and the holder`, async (t) => {
    const target = path.join(folder(t), place);
    mkdirSync(target, { recursive: true });
    const lock = await lockFolder(target);
    await t.rejects(lockFolder(target), {
      name: 'FolderInUseError',
      message: `data folder in use: ${target} is held by process ${process.pid}`,
    });
    await lock.release();
    await (await lockFolder(target)).release();
  });
}

t.test('of many that want it at once exactly one gets it, also over a socket that a killed holder left', async (t) => {
  const target = folder(t);
  const script = `import { lockFolder } from ${JSON.stringify(path.join(import.meta.dirname, 'folder-lock.ts'))};
    await lockFolder(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  await t.rejects(lockFolder(target), { message: new RegExp(`held by process ${holder.pid}$`) });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  t.equal(readdirSync(path.join(target, '.lock')).length, 1);
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => lockFolder(target)));
  const held = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  t.equal(held.length, 1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') t.ok(outcome.reason instanceof FolderInUseError, String(outcome.reason));
  await t.rejects(lockFolder(target), FolderInUseError);
  for (const { value } of held) await value.release();
  t.same(readdirSync(target), []);
});

t.test('a holder that is stopping is waited for', async (t) => {
  const target = folder(t);
  const first = await lockFolder(target);
  first.markStopping();
  const waiting = lockFolder(target);
  const isHeld = await Promise.race([
    waiting.then(() => true),
    new Promise((resolve) => setTimeout(() => resolve(false), 120)),
  ]);
  t.equal(isHeld, false);
  await first.release();
  await (await waiting).release();
});

t.test('a holder that lets go while it is asked is asked again, and refuses only when it stays', async (t) => {
  const target = folder(t);
  const place = path.join(target, '.lock');
  mkdirSync(place);
  let connections = 0;
  // It accepts and says nothing, like a holder whose socket closes between the connection and its answer.
  const leaving = createServer((socket) => {
    connections += 1;
    socket.end();
  });
  await new Promise<void>((resolve) => leaving.listen(path.join(place, '00000000000000-00000000'), resolve));
  await t.rejects(lockFolder(target, { waitMs: 100 }), { message: /is held by another process$/ });
  const asked = connections;
  t.ok(asked >= 2, `${asked} connections`);
  const waiting = lockFolder(target);
  await once(leaving, 'connection');
  await once(leaving, 'connection');
  await new Promise((resolve) => leaving.close(resolve));
  await (await waiting).release();
});
