import fc from '@parallax/testkit/fast-check';
import { RE2JS } from 're2js';
import t from 'tap';
import { occurs, patternProblem, problemsOf } from './keyword.ts';
import { readPattern } from './pattern-text.ts';

/** What patterns are made of, right and wrong. */
// biome-ignore format: a column of sixty lines tells less
const pieces = [
  'a', 'b', 'ab', 'é', '\u{1f600}', '\ud800', ' ', '1', ',', '-', '^', '$', '.', 'ſ',
  '(', ')', '(?:', '(?i)', '(?i:', '(?s-i:', '(?-)', '(?', '(?=', '(?!', '(?<=', '(?P<n>', '(?<m>', '(?<n>', '|',
  '*', '+', '?', '??', '{2}', '{2,}', '{2,3}', '{0,2}', '{0}', '{1000}', '{1001}', '{3,2}', '{', '}', '{1', '{01}',
  '[', '[^', ']', 'a-z', 'z-a', '[[:alpha:]]', '[:foo:]', '[:^digit:]', ':]', '\\d', '\\W', '\\pL', '\\p{Greek}',
  '\\P{^Lu}', '\\p{Foo}', '\\pX', '\\p{', '\\p', '\\b', '\\B', '\\A', '\\z', '\\Z', '\\C', '\\Q', '\\E', '\\x41',
  '\\x{1f600}', '\\x{110000}', '\\x{', '\\x4', '\\12', '\\1', '\\0', '\\8', '\\777', '\\n', '\\y', '\\_', '\\é', '\\',
];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 10 }).map((all) => all.join(''));

/** Steps of the compiled program, undefined where the engine takes the text for no pattern. */
function compiled(pattern: string, ignoreCase: boolean): number | undefined {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0).programSize();
  } catch {
    return undefined;
  }
}

void t.test('a text is read as the engine reads it, and never taken for less than it becomes', async () => {
  fc.assert(
    fc.property(text, fc.boolean(), (pattern, ignoreCase) => {
      const read = readPattern(pattern, ignoreCase);
      // A program of more steps is not worth its compilation here.
      if (read.isPattern && read.steps > 3_000) return true;
      const size = compiled(pattern, ignoreCase);
      return read.isPattern ? size !== undefined && size <= read.steps : size === undefined;
    }),
    { numRuns: 3_000 },
  );
});

void t.test('patterns that people write are taken, and none of them is overrated', async (t) => {
  for (const pattern of [
    'status[":\\s]+(ok|up|healthy)',
    '(?i)welcome,? (back )?\\w+!',
    '^https://[a-z0-9.-]+\\.example\\.(com|org)/login(\\?.*)?$',
    'name="csrf_token" value="([^"]{16,64})"',
    '\\b\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z\\b',
    '(?i)[а-я]+ошибк[аи]',
    '[\\p{Han}\\p{Hiragana}]{2,20}',
    '(?s)<title>.*(error|exception).*</title>',
    'x{200}',
    'a|b|c|d|e|f|g',
  ]) {
    const read = readPattern(pattern, false);
    t.equal(patternProblem({ pattern, ignore_case: false }), undefined, pattern);
    t.ok(read.isPattern && read.steps <= (compiled(pattern, false) ?? 0) + 12, `${pattern}: ${JSON.stringify(read)}`);
  }
  t.equal(patternProblem({ pattern: '[\u4e00-\u9fff]{2,}错误', ignore_case: true }), undefined);
  t.equal(occurs({ pattern: 'x'.repeat(250), ignore_case: false }, 'x'.repeat(300)), true, 'a long text is no program');
});

void t.test('what would take long to compile is refused with what to do', async (t) => {
  for (const [pattern, ignoreCase, problem] of [
    ['(x?){1000}'.repeat(25), false, /too large \(100002 steps, at most 256\); use smaller repetitions/],
    ['(?:(?:x{10}){10}){10}', false, /too large/],
    ['(?i)['.concat('0-\u{1e942}'.repeat(60), ']'), false, /takes too long to prepare; .*narrower ranges/],
    ['0-\u{1e942}'.replace(/.*/u, '[$&]'), true, /takes too long/],
    ['\\pL'.repeat(85), false, /fewer Unicode classes/],
    ['(?=x)', false, /is not a pattern of RE2/],
    ['x'.repeat(257), false, /at most 256 characters/],
  ] as const)
    t.match(patternProblem({ pattern, ignore_case: ignoreCase }), problem, pattern.slice(0, 20));
  const most = { pattern: 'x'.repeat(250), ignore_case: false };
  t.equal(patternProblem(most), undefined);
  const together = (count: number) => problemsOf(Array.from({ length: count }, () => most));
  t.same(together(16), []);
  t.match(together(17), [{ index: undefined, problem: /4096 steps together at most/ }]);
  t.match(together(66), [{ index: undefined, problem: /16384 characters together at most/ }]);
  t.match(problemsOf([most, { pattern: '(', ignore_case: false }]), [{ index: 1, problem: /is not a pattern/ }]);
});

void t.test('256 KiB of the worst patterns are judged within 50 ms, and leave no memory', async (t) => {
  const worst = [
    '(x?){1000}'.repeat(25),
    `(?i)[${'0-\u{1e942}'.repeat(60)}]`,
    '\\pL'.repeat(85),
    '[['.repeat(128),
    '('.repeat(128) + ')'.repeat(128),
    '[^\\pL\\pN]'.repeat(25),
    '|'.repeat(256),
    '(x{31}){31}'.repeat(23),
  ];
  const each = Math.ceil((256 * 1024) / worst.reduce((sum, pattern) => sum + pattern.length, 0));
  const run = () => {
    const before = process.cpuUsage();
    for (let round = 0; round < each; round += 1)
      for (const pattern of worst) patternProblem({ pattern, ignore_case: round % 2 === 0 });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  // The fastest of some: what else the machine does is nothing that the patterns cost.
  const before = process.memoryUsage().heapUsed;
  const fastest = Math.min(...Array.from({ length: 4 }, run));
  t.ok(fastest <= 50, `${fastest} ms`);
  t.ok(process.memoryUsage().heapUsed - before < 64 * 1024 * 1024, 'no program is kept');
});
