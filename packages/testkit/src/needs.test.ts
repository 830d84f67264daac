import { readdirSync } from 'node:fs';
import t, { type Test } from 'tap';
import { countMissing, needs } from './needs.ts';

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

function sayer() {
  const said: string[] = [];
  const comment = (text: string) => void said.push(`comment: ${text}`);
  const fail = (text: string) => void said.push(`fail: ${text}`);
  return { said, t: { comment, fail } };
}

void t.test('a missing program is said and counted, and fails the test where it is required', async (t) => {
  const folder = t.testdir({});
  const asked = sayer();
  setting(t, { PARALLAX_TEST_SERVERS: undefined, PARALLAX_TEST_MISSING_SERVERS: folder });
  countMissing(asked.t, 'no-such-server');
  countMissing(asked.t, 'no-such-server');
  t.strictSame(readdirSync(folder), ['no-such-server']);
  t.match(asked.said, [/^comment: no-such-server is not installed/, /^comment: /]);
  setting(t, { PARALLAX_TEST_SERVERS: 'required', PARALLAX_TEST_MISSING_SERVERS: undefined });
  countMissing(asked.t, 'no-such-server');
  t.match(asked.said[2], /^fail: no-such-server/);
});

void t.test(
  'a test that needs several things learns whether all are there, and each missing one is said',
  async (t) => {
    const folder = t.testdir({});
    setting(t, { PARALLAX_TEST_SERVERS: undefined, PARALLAX_TEST_MISSING_SERVERS: folder });
    const asked = sayer();
    t.equal(needs(asked.t, 'sh', 'env'), true);
    t.strictSame(asked.said, []);
    t.equal(needs(asked.t, 'no-such-tool', 'sh', 'no-such-server'), false);
    t.strictSame(readdirSync(folder).toSorted(), ['no-such-server', 'no-such-tool']);
    t.equal(asked.said.length, 2);
  },
);

void t.test('root is counted where the tests run as somebody else', async (t) => {
  const folder = t.testdir({});
  setting(t, { PARALLAX_TEST_SERVERS: undefined, PARALLAX_TEST_MISSING_SERVERS: folder });
  const asked = sayer();
  const isRoot = process.getuid?.() === 0;
  t.equal(needs(asked.t, 'root'), isRoot);
  t.strictSame(readdirSync(folder), isRoot ? [] : ['root']);
  t.equal(asked.said.length, isRoot ? 0 : 1);
});
