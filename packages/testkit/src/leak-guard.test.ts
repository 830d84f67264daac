import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { leakGuard, openResources } from './leak-guard.ts';

function fakeTest() {
  const handlers: (() => unknown)[] = [];
  const failures: string[] = [];
  return {
    failures,
    context: {
      teardown: (handler: () => unknown) => handlers.push(handler),
      fail: (message: string) => failures.push(message),
    },
    end: async () => {
      for (const handler of handlers) await handler();
    },
  };
}

t.test('a server and a timer that are left open are named', async (t) => {
  // A file before this one in the same process may have closed a server a moment ago, which is counted for a turn longer.
  for (let waits = 0; openResources().has('TCPServerWrap') && waits < 200; waits += 1) await sleep(5);
  const test = fakeTest();
  leakGuard(test.context);
  const server = createServer().listen(0, '127.0.0.1');
  const timer = setTimeout(() => {}, 60_000);
  await test.end();
  t.equal(test.failures.length, 1);
  t.match(test.failures[0], /TCPServerWrap/);
  t.match(test.failures[0], /Timeout/);
  clearTimeout(timer);
  server.close();
});

t.test('what is closed by the end, or was open before, is no leak', async (t) => {
  const earlier = setTimeout(() => {}, 60_000);
  const test = fakeTest();
  leakGuard(test.context);
  const server = createServer().listen(0, '127.0.0.1');
  server.close();
  await test.end();
  t.same(test.failures, []);
  clearTimeout(earlier);
});
