import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import type { Known } from '../facts.ts';
import { type Breach, evaluate, wantedFacts } from './evaluate.ts';
import { parsePath, pathProblem, valueAt } from './json-path.ts';
import { type AssertionNode, assertionsSchema, severities } from './settings.ts';

const plain = (text: string): string => text;
const known = (facts: Partial<Known> = {}): Known => ({ totalUs: 120_000, phases: { dns: 1500 }, ...facts });
const read = (node: unknown): AssertionNode => assertionsSchema().parse(node);
const judge = (node: unknown, facts: Partial<Known> = {}): Breach | undefined =>
  evaluate(read(node), known(facts), plain);
const level = (breach: Breach | undefined): number =>
  breach === undefined ? 0 : severities.length - severities.indexOf(breach.severity);

/** An assertion that holds, or fails with a given severity, over a run that took 120 ms. */
const leaf = fc.record({
  subject: fc.constant('response_time' as const),
  comparison: fc.constantFrom('less' as const, 'more' as const),
  value: fc.constantFrom(60, 180),
  severity: fc.constantFrom(...severities),
});
const tree = fc.letrec<{ node: AssertionNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    leaf,
    fc.record({ all: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
  ),
})).node;

void t.test('a tree is as grave as the gravest of all and the mildest of any', async () => {
  const expected = (node: AssertionNode): number => {
    if (node.all) return Math.max(...node.all.map(expected));
    if (node.any) return Math.min(...node.any.map(expected));
    const wanted = Number(node.value);
    if (node.comparison === 'less' ? wanted > 120 : wanted < 120) return 0;
    return severities.length - severities.indexOf(node.severity ?? 'fail');
  };
  fc.assert(fc.property(tree, (node) => level(evaluate(node, known(), plain)) === expected(node)));
});

void t.test('the order of children changes nothing but which sentence is shown', async () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 4 }), fc.constantFrom('all', 'any'), (children, kind) => {
      const backwards = [...children].reverse();
      return (
        level(evaluate({ [kind]: children }, known(), plain)) === level(evaluate({ [kind]: backwards }, known(), plain))
      );
    }),
  );
});

void t.test('one assertion more makes all no milder and any no graver', async () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 3 }), tree, (children, more) => {
      const of = (node: AssertionNode) => level(evaluate(node, known(), plain));
      return (
        of({ all: [...children, more] }) >= of({ all: children }) &&
        of({ any: [...children, more] }) <= of({ any: children })
      );
    }),
  );
});

void t.test('a comparison and its negation never agree where the fact is known', async () => {
  const value = fc.oneof(fc.string({ minLength: 1, maxLength: 8 }), fc.integer());
  fc.assert(
    fc.property(
      fc.constantFrom('equals', 'contains'),
      value,
      fc.string({ maxLength: 12 }),
      (comparison, wanted, body) => {
        if (comparison === 'contains' && typeof wanted !== 'string') return true;
        const one = evaluate({ subject: 'body', comparison, value: wanted }, known({ body }), plain);
        const other = evaluate(
          { subject: 'body', comparison: `not_${comparison}` as 'not_equals', value: wanted },
          known({ body }),
          plain,
        );
        return (one === undefined) !== (other === undefined);
      },
    ),
  );
});

void t.test('every subject is read from what is known of the run', async (t) => {
  const facts: Partial<Known> = {
    status: 204,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['x-count', '7'],
      ['x-tag', 'a'],
      ['x-tag', 'b'],
    ],
    body: '{"state":"ok","items":[{"n":1},{"n":2}],"odd key":null}',
    bodyBytes: 51,
    finalUrl: 'https://example.com/login',
    redirects: 2,
    certificateDays: 12,
    answers: ['192.0.2.1', '192.0.2.2'],
    lossPercent: 25,
    jitterUs: 3500,
    address: '2001:db8::1',
    version: '8.0.36-debian',
    details: { stratum: 2, state: 'running' },
  };
  const holding: readonly AssertionNode[] = [
    { subject: 'status', comparison: 'equals', value: 204 },
    { subject: 'status', comparison: 'one_of', value: [200, 204] },
    { subject: 'response_time', comparison: 'at_most', value: 120 },
    { subject: 'phase', name: 'dns', comparison: 'less', value: 2 },
    { subject: 'header', name: 'Content-Type', comparison: 'contains', value: 'TEXT/HTML', ignore_case: true },
    { subject: 'header', name: 'x-count', comparison: 'at_least', value: 7 },
    { subject: 'header', name: 'x-count', comparison: 'equals', value: 7 },
    { subject: 'header', name: 'x-tag', comparison: 'equals', value: 'b' },
    { subject: 'header', name: 'x-powered-by', comparison: 'not_exists' },
    { subject: 'header', name: 'x-powered-by', comparison: 'not_contains', value: 'PHP' },
    { subject: 'body', comparison: 'matches', value: '"state":"\\w+"' },
    { subject: 'body', comparison: 'not_matches', value: 'error|fatal' },
    { subject: 'body_bytes', comparison: 'more', value: 50 },
    { subject: 'json', name: '$.state', comparison: 'equals', value: 'ok' },
    { subject: 'json', name: '$.items[-1].n', comparison: 'equals', value: 2 },
    { subject: 'json', name: '$.items.length()', comparison: 'equals', value: 2 },
    { subject: 'json', name: "$['odd key']", comparison: 'equals', value: null },
    { subject: 'json', name: '$.items[9]', comparison: 'not_exists' },
    { subject: 'final_url', comparison: 'contains', value: '/login' },
    { subject: 'redirects', comparison: 'at_most', value: 2 },
    { subject: 'certificate_days', comparison: 'more', value: 10 },
    { subject: 'dns_answer', comparison: 'equals', value: '192.0.2.2' },
    { subject: 'dns_answer', comparison: 'not_equals', value: '192.0.2.9' },
    { subject: 'packet_loss', comparison: 'at_most', value: 25 },
    { subject: 'jitter', comparison: 'at_most', value: 3.5 },
    { subject: 'address', comparison: 'equals', value: '2001:DB8::1' },
    { subject: 'version', comparison: 'at_least', value: '8.0.4' },
    { subject: 'version', comparison: 'less', value: '8.0.100' },
    { subject: 'details', name: 'stratum', comparison: 'less', value: 3 },
  ];
  const failing: readonly AssertionNode[] = [
    { subject: 'status', comparison: 'equals', value: 200 },
    { subject: 'phase', name: 'tls', comparison: 'less', value: 9999 },
    { subject: 'header', name: 'x-tag', comparison: 'not_equals', value: 'a' },
    { subject: 'header', name: 'absent', comparison: 'exists' },
    { subject: 'json', name: '$.state', comparison: 'equals', value: 0 },
    { subject: 'json', name: '$.items[0].n', comparison: 'equals', value: '1' },
    { subject: 'json', name: '$.constructor', comparison: 'exists' },
    { subject: 'json', name: '$.items.length', comparison: 'exists' },
    { subject: 'version', comparison: 'at_least', value: '8.1' },
    { subject: 'header', name: 'content-type', comparison: 'less', value: 5 },
    { subject: 'details', name: 'no_such_fact', comparison: 'not_equals', value: 'x' },
    { subject: 'details', name: 'toString', comparison: 'not_equals', value: 'x' },
  ];
  for (const node of holding) t.equal(judge(node, facts), undefined, JSON.stringify(node));
  for (const node of failing)
    t.match(judge(node, facts), { severity: 'fail', message: /^.{10,600}\.$/s }, JSON.stringify(node));
});

void t.test('what the run does not tell fails, and is not guessed from a part', async (t) => {
  t.match(judge({ subject: 'status', comparison: 'not_equals', value: 500 }), { message: /Nothing is known/ });
  t.equal(judge({ subject: 'status', comparison: 'not_exists' }), undefined);
  const cut = { body: 'all is well', bodyTruncated: true };
  t.match(judge({ subject: 'body', comparison: 'not_contains', value: 'error' }, cut), { message: /beginning/ });
  t.equal(judge({ subject: 'body', comparison: 'contains', value: 'well' }, cut), undefined);
  t.match(judge({ subject: 'json', name: '$.a', comparison: 'not_equals', value: 1 }, { body: '{"a":' }), {
    severity: 'fail',
  });
  const long = { body: `${'a'.repeat(300_000)}b` };
  t.match(judge({ subject: 'body', comparison: 'not_matches', value: '[b-c]' }, long), { message: /beginning/ });
});

void t.test('a number may be written as text, and one pattern has all of the time', async (t) => {
  t.equal(judge({ subject: 'status', comparison: 'equals', value: '200' }, { status: 200 }), undefined);
  t.equal(judge({ subject: 'status', comparison: 'one_of', value: ['201', '200'] }, { status: 200 }), undefined);
  t.match(judge({ subject: 'status', comparison: 'not_equals', value: '200' }, { status: 200 }), { severity: 'fail' });
  t.match(judge({ subject: 'json', name: '$.a', comparison: 'equals', value: '1' }, { body: '{"a":1}' }), {
    severity: 'fail',
  });
  const body = `${'a '.repeat(40_000)}ready`;
  const pattern = { subject: 'body', comparison: 'matches', value: 'ready' };
  t.equal(judge(pattern, { body }), undefined);
  t.match(judge({ all: Array.from({ length: 8 }, () => pattern) }, { body }), { message: /beginning/ });
});

void t.test('a sentence shows what was found without secrets, and no body', async (t) => {
  const redact = (text: string): string => text.replaceAll('canary', '[redacted]');
  const shown = (node: unknown, facts: Partial<Known>): string =>
    evaluate(read(node), known(facts), redact)?.message ?? '';
  t.equal(
    shown(
      { subject: 'header', name: 'x-echo', comparison: 'equals', value: 'a' },
      { headers: [['x-echo', 'is canary']] },
    ),
    'The header x-echo is is [redacted]; asserted is: equals "a".',
  );
  t.match(
    shown(
      { subject: 'header', name: 'set-cookie', comparison: 'equals', value: 'a' },
      { headers: [['set-cookie', 'k=v']] },
    ),
    /\[redacted\]/,
  );
  t.notMatch(shown({ subject: 'body', comparison: 'equals', value: 'a' }, { body: 'private' }), /private/);
});

void t.test('trees are bounded and every mistake is named where it is', async (t) => {
  const one = { subject: 'status', comparison: 'equals', value: 200 };
  const deep = (levels: number): unknown => (levels === 1 ? one : { all: [deep(levels - 1)] });
  t.ok(assertionsSchema().safeParse(deep(4)).success);
  t.notOk(assertionsSchema().safeParse(deep(5)).success);
  t.notOk(assertionsSchema().safeParse(deep(5000)).success, 'and a hostile depth does not exhaust the stack');
  t.ok(assertionsSchema().safeParse({ all: Array.from({ length: 50 }, () => one) }).success);
  const halves = [{ all: Array.from({ length: 26 }, () => one) }, { all: Array.from({ length: 25 }, () => one) }];
  t.notOk(assertionsSchema().safeParse({ any: halves }).success, '51 in all');
  const pattern = { subject: 'body', comparison: 'matches', value: 'a+' };
  t.notOk(assertionsSchema().safeParse({ all: Array.from({ length: 9 }, () => pattern) }).success, 'nine patterns');
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{}, /subject/],
    [{ subject: 'status' }, /comparison/],
    [{ subject: 'status', comparison: 'equals' }, /value/],
    [{ subject: 'header', comparison: 'exists' }, /name/],
    [{ subject: 'status', name: 'x', comparison: 'exists' }, /no name/],
    [{ subject: 'phase', name: 'sleep', comparison: 'exists' }, /phase/],
    [{ subject: 'json', name: 'state', comparison: 'exists' }, /begins with \$/],
    [{ subject: 'body', comparison: 'matches', value: '(?=a)' }, /RE2/],
    [{ subject: 'body', comparison: 'matches', value: '(a{99}){9}' }, /large/],
    [{ subject: 'status', comparison: 'less', value: 'many' }, /number/],
    [{ subject: 'status', comparison: 'one_of', value: 200 }, /list/],
    [{ all: [one], any: [one] }, /list/],
    [{ all: [one], severity: 'warn' }, /list/],
    [{ all: [] }, /./],
    [{ all: [{ any: [{ subject: 'status', comparison: 'equals' }] }] }, /value/],
  ];
  for (const [node, message] of wrong) {
    const result = assertionsSchema().safeParse(node);
    t.match(result.error?.issues[0]?.message, message, JSON.stringify(node));
  }
  t.same(
    assertionsSchema().safeParse({ all: [{ any: [{ subject: 'status', comparison: 'equals' }] }] }).error?.issues[0]
      ?.path,
    ['all', 0, 'any', 0, 'value'],
  );
});

void t.test('a tree says which facts it needs', async (t) => {
  const node = read({
    all: [
      { subject: 'json', name: '$.a', comparison: 'exists' },
      { subject: 'response_time', comparison: 'less', value: 1 },
    ],
  });
  t.same([...wantedFacts(node)], ['body']);
});

void t.test('a JSON path names one value or is refused', async (t) => {
  for (const path of [
    '',
    'a',
    '$..a',
    '$.*',
    '$[*]',
    '$[1:2]',
    '$.a[',
    "$['a",
    '$.a b',
    '$[?(@.a)]',
    '$.length().a',
    `$${'.a'.repeat(21)}`,
  ])
    t.type(pathProblem(path), 'string', path);
  const at = (path: string, document: unknown): unknown => {
    const parsed = parsePath(path);
    if (typeof parsed === 'string') throw new Error(parsed);
    return valueAt(document, parsed);
  };
  t.equal(at('$', 5), 5);
  t.equal(at('$.length()', 'añ€😀'), 4);
  t.equal(at('$["a.b"][0]', { 'a.b': ['x'] }), 'x');
  t.equal(at('$.__proto__', {}), undefined);
  t.equal(at('$[0]', { 0: 'no list' }), undefined);
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[^'\\]{1,20}$/), { minLength: 1, maxLength: 20 }),
      fc.jsonValue(),
      (keys, value) => {
        const document = keys.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value);
        return JSON.stringify(at(`$${keys.map((key) => `['${key}']`).join('')}`, document)) === JSON.stringify(value);
      },
    ),
  );
  fc.assert(fc.property(fc.string(), (text) => ['string', 'object'].includes(typeof parsePath(`$${text}`))));
});
