import t, { type Test } from 'tap';
import { accepts, freePort, startReal } from './real-server.ts';

/** Sets variables of the environment for the time of a test. */
function setting(t: Test, values: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(values)) {
    const before = process.env[name];
    const set = (next: string | undefined) => {
      if (next === undefined) delete process.env[name];
      else process.env[name] = next;
    };
    set(value);
    t.teardown(() => set(before));
  }
}

void t.test('nothing is started of a program that is missing', async (t) => {
  setting(t, { PARALLAX_TEST_SERVERS: undefined, PARALLAX_TEST_MISSING_SERVERS: undefined });
  t.equal(await startReal(t, { program: 'no-such-server', args: [], ready: /never/ }), undefined);
});

void t.test('a server that ends at once is told with what it said', async (t) => {
  const start = startReal(t, { program: 'sh', args: ['-c', 'echo no such setting >&2; exit 1'], ready: /never/ });
  await t.rejects(start, /sh ended at once: no such setting/);
});

void t.test('a server is ready when it says so, and gone when it has stopped', async (t) => {
  const server = await startReal(t, { program: 'sh', args: ['-c', 'echo ready; exec sleep 60'], ready: /ready/ });
  t.match(server?.output(), /ready/);
  await server?.stop();
  t.throws(() => process.kill(server?.pid ?? 0, 0));
  t.equal(await accepts(await freePort()), false);
});
