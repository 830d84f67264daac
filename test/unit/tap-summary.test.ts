import t from 'tap';
import { createSummary, missingServersLine } from '../../scripts/tap-summary.mjs';

function summarised(...chunks: string[]): string[] {
  const written: string[] = [];
  const summary = createSummary((line) => written.push(line));
  for (const chunk of chunks) summary.add(chunk);
  summary.end();
  return written;
}

t.test('a file that passes is one line, and the totals stay as they are', async (t) => {
  const tap =
    'TAP version 14\n# Subtest: a.test.ts\n    ok 1 - fine\n    1..1\nok 1 - a.test.ts # time=1234.5ms\n\n1..1\n# { total: 1, pass: 1 }\n# time=1300ms\n';
  t.same(summarised(tap), ['ok      1.2 s  a.test.ts', '# { total: 1, pass: 1 }', '# time=1300ms']);
  t.same(summarised(...tap.split(/(?=.)/s)), summarised(tap), 'however it is cut');
});

t.test(
  'of a file that fails the failing assertions are shown with their diagnostics, and nothing of what passed',
  async (t) => {
    const lines = summarised(
      '# Subtest: a.test.ts\n    ok 1 - fine\n      ---\n      at: here\n      ...\n    not ok 2 - broken\n      ---\n      found: 1\n      ...\n    1..2\nnot ok 1 - a.test.ts # time=5ms\n',
      '  ---\n  exitCode: 1\n  ...\n\n1..1\n# { total: 2, pass: 1, fail: 1 }\n',
    );
    t.same(
      lines.map((line) => line.trim()),
      ['FAIL    0.0 s  a.test.ts', 'not ok 2 - broken', '---', 'found: 1', '...', '# { total: 2, pass: 1, fail: 1 }'],
    );
  },
);

t.test('a run that was cut off leaves what it had said', async (t) => {
  t.match(summarised('Error: it cannot start\n    at somewhere\n'), [/cannot start/, /at somewhere/]);
});

t.test('missing servers are counted and named', async (t) => {
  t.equal(missingServersLine([]), 'real servers missing: 0');
  t.equal(
    missingServersLine(['slapd', 'exim4']),
    'real servers missing: 2; what needs these was not tried: exim4, slapd',
  );
});
