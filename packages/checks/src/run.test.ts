import t from 'tap';
import type { CheckContext } from './check.ts';
import { dial } from './net/dial.ts';
import { withThreshold } from './net/failure.ts';
import type { Resolver } from './net/resolve.ts';
import { runCheck } from './run.ts';
import { listenRaw, testContext, until } from './testing/context.ts';

const run = (protocol: string, url: string, settings: unknown, overrides: Partial<CheckContext> = {}) =>
  runCheck(protocol, { url }, settings, testContext(overrides));

void t.test('what cannot be run is an outcome, not an exception', async (t) => {
  t.match(await run('gopher', 'x', {}), {
    outcome: 'probe_error',
    source: 'probe',
    code: 'probe_capability',
    message: /gopher/,
  });
  t.match(await run('constructor', 'x', {}), { outcome: 'probe_error', code: 'probe_capability' });
  t.match(await run('http', 'http://example.com', { method: 'BREW' }), {
    outcome: 'probe_error',
    code: 'probe_internal',
    message: /method/,
  });
  t.match(await run('http', 'http://example.com', 'text'), { outcome: 'probe_error', code: 'probe_internal' });
  t.match(await run('http', 'gopher://example.com', {}), { outcome: 'fail', source: 'target', code: 'target_invalid' });
  t.match(
    await run('tcp', 'example.com', null),
    { outcome: 'fail', code: 'target_invalid' },
    'no settings are the defaults',
  );
  const settings = {};
  t.match(await run('tcp', 'example.com', settings), { code: 'target_invalid' });
  t.match(await run('http', 'http://10.0.0.1', settings), { code: 'address_denied' }, 'one object may serve two types');
  t.match(await run('tcp', 'example.com', settings), { code: 'target_invalid' }, 'and a bad target stays bad');
});

void t.test('a defect of the program is the fault of the probe, and says nothing secret', async (t) => {
  const resolver: Resolver = {
    resolve: async () => {
      throw new TypeError('the password is canary');
    },
  };
  const outcome = await runCheck(
    'http',
    { url: 'http://example.com' },
    { username: 'u', password: 'canary' },
    testContext({ resolver }),
  );
  t.match(outcome, { outcome: 'probe_error', source: 'probe', code: 'probe_internal', message: /TypeError/ });
  t.notMatch(JSON.stringify(outcome), 'canary');
});

void t.test('a step that never ends is given up shortly after the deadline', async (t) => {
  const start = performance.now();
  // A bare timer of the same length and another one after it: a busy machine delays them as it delays those of the run.
  let isLate = false;
  const resolver: Resolver = {
    resolve: () => {
      setTimeout(() => setTimeout(() => (isLate = true), 60).unref(), 100).unref();
      return new Promise(() => undefined);
    },
  };
  t.match(await runCheck('http', { url: 'http://example.com' }, {}, testContext({ resolver, timeoutMs: 100 })), {
    outcome: 'probe_error',
    code: 'probe_internal',
  });
  t.ok(performance.now() - start >= 99);
  t.notOk(isLate);
});

void t.test('a run that is no longer wanted is skipped at once and leaves nothing', async (t) => {
  const peer = await listenRaw((socket) => socket.resume());
  t.teardown(peer.stop);
  const controller = new AbortController();
  const running = runCheck(
    'http',
    { url: `http://127.0.0.1:${peer.port}` },
    {},
    testContext({ signal: controller.signal }),
  );
  await until(() => peer.connections.size === 1, 'the check is connected');
  controller.abort();
  t.match(await running, { outcome: 'skipped', source: 'probe', code: 'cancelled' });
  await until(() => peer.connections.size === 0, 'the connection is closed');
  t.match(
    await runCheck('http', { url: 'http://10.0.0.1' }, {}, testContext({ signal: controller.signal })),
    { outcome: 'skipped' },
    'also before it began',
  );
});

void t.test('the code of a timeout names the phase', async (t) => {
  const peer = await listenRaw((socket) => socket.resume());
  t.teardown(peer.stop);
  const context = { timeoutMs: 60 };
  const silent = testContext({ ...context, resolver: { resolve: (_host, { signal }) => untilAborted(signal) } });
  t.match(await runCheck('http', { url: 'http://example.com' }, {}, silent), {
    outcome: 'timeout',
    code: 'dns_timeout',
    source: 'resolver',
  });
  t.match(await runCheck('https', { url: `https://127.0.0.1:${peer.port}` }, {}, testContext(context)), {
    outcome: 'timeout',
    code: 'tls_timeout',
  });
  t.match(await runCheck('http', { url: `http://127.0.0.1:${peer.port}` }, {}, testContext(context)), {
    outcome: 'timeout',
    code: 'http_timeout',
  });
  const controller = new AbortController();
  const dialed = dial({ address: '127.0.0.1', port: peer.port }, testContext({ signal: controller.signal }));
  controller.abort();
  t.match(await dialed, { ok: false, failure: { outcome: 'timeout', code: 'connect_timeout' } });
});

function untilAborted(signal: CheckContext['signal']): ReturnType<Resolver['resolve']> {
  return new Promise((resolve) => {
    const failure = { outcome: 'timeout', source: 'resolver', code: 'dns_timeout', message: 'No answer.' } as const;
    signal.addEventListener('abort', () => resolve({ ok: false, durationUs: 1, failure }));
  });
}

void t.test('an answer above the threshold is slow', async (t) => {
  const ok = { outcome: 'ok', total: 150_000, phases: {} } as const;
  t.match(withThreshold(ok, 149), { outcome: 'slow', code: 'response_slow', total: 150_000, message: /150 ms/ });
  t.equal(withThreshold(ok, 150), ok);
  t.equal(withThreshold(ok, undefined), ok);
  t.equal(withThreshold(ok, 0), ok);
  const failed = { ...ok, outcome: 'fail' } as const;
  t.equal(withThreshold(failed, 1), failed, 'a failure stays one');
});
