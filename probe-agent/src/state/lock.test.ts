import { existsSync, mkdirSync } from 'node:fs';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { leakGuard } from '@parallax/testkit';
import t from 'tap';
import { scratchFolder } from '../testing/results.ts';
import { lockStateFolder, socketPathOf, statusOfRunningAgent } from './lock.ts';

leakGuard(t);

void t.test('one agent for each state folder; whoever asks is told its status', async (t) => {
  const folder = scratchFolder(t);
  t.equal(await statusOfRunningAgent(folder), undefined);
  const lock = await lockStateFolder(folder, () => ({ pid: process.pid, assignments: 5 }));
  t.match(await statusOfRunningAgent(folder), { pid: process.pid, assignments: 5 });
  await t.rejects(
    lockStateFolder(folder, () => ({ pid: 1 })),
    new RegExp(`in use by another probe agent \\(process ${process.pid}\\)`),
  );
  await lock.release();
  t.equal(await statusOfRunningAgent(folder), undefined);
  const again = await lockStateFolder(folder, () => ({ pid: process.pid }));
  await again.release();
});

void t.test('a socket that a killed agent has left is taken over', async (t) => {
  const folder = scratchFolder(t);
  const socket = socketPathOf(folder);
  const program = `require('net').createServer().listen(${JSON.stringify(socket)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await t.rejects(
    lockStateFolder(folder, () => ({ pid: process.pid })),
    /in use/,
    'it listens without a word',
  );
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
  t.ok(existsSync(socket));
  const lock = await lockStateFolder(folder, () => ({ pid: process.pid }));
  await lock.release();
});

void t.test('a folder too deep for a socket has it in a private folder', async (t) => {
  const deep = path.join(scratchFolder(t), 'd'.repeat(60), 'e'.repeat(60));
  mkdirSync(deep, { recursive: true });
  t.ok(socketPathOf(deep).length <= 100);
  const lock = await lockStateFolder(deep, () => ({ pid: process.pid }));
  t.match(await statusOfRunningAgent(deep), { pid: process.pid });
  await lock.release();
});
