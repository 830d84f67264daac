import { createServer } from 'node:net';
import t from 'tap';
import { leakGuard } from './leak-guard.ts';

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
