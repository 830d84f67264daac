import { createWebhookCheckSchema } from '@parallax/api-contract';
import type { PayloadRule } from '@parallax/api-contract';
import fc from '@parallax/testkit/fast-check';
import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { deliveryIdOf, greetingOf, jsonOf, keptBody } from './payload.ts';
import { headersOf } from './receiver/headers.ts';
import { judge } from './rules.ts';

const judged = (rules: readonly PayloadRule[], body: string) => judge(rules, body, jsonOf(Buffer.from(body)));
const rule = (
  path: string | null,
  op: PayloadRule['op'],
  value: PayloadRule['value'],
  status: PayloadRule['status'] = 'down',
): PayloadRule => ({ path, op, value, status });

void t.test('the first rule that holds decides; when none does, all is well', async (t) => {
  t.same(judged([], 'no JSON at all'), { status: 'up', rule: null });
  const rules = [
    rule('$.state', 'equals', 'failed'),
    rule('$.checks[0].name', 'contains', 'slow', 'degraded'),
    rule('$.state', 'matches', '^f', 'degraded'),
    rule('$.labels', 'contains', 'broken'),
  ];
  t.same(judged(rules, '{"state": "failed"}'), { status: 'down', rule: 0 });
  t.same(judged(rules, '{"state": "fine", "checks": [{"name": "slowly"}]}'), { status: 'degraded', rule: 1 });
  t.same(judged(rules, '{"state": "fine"}'), { status: 'degraded', rule: 2 });
  t.same(judged(rules, '{"labels": ["x", "broken"]}'), { status: 'down', rule: 3 });
  t.same(judged(rules, '{"labels": ["x", "brokenly"]}'), { status: 'up', rule: null }, 'an entry, not a part of one');
  t.same(judged(rules, '{}'), { status: 'up', rule: null });
});

void t.test('values are compared by value and type', async (t) => {
  for (const [value, body, isSame] of [
    [0, '{"a": 0}', true],
    [0, '{"a": "0"}', false],
    [false, '{"a": 0}', false],
    [null, '{"a": null}', true],
    [null, '{}', false],
    ['', '{"a": ""}', true],
    ['x', '{"a": {"b": "x"}}', false],
  ] as const) {
    t.same(
      judged([rule('$.a', 'equals', value)], body).valueOf(),
      isSame ? { status: 'down', rule: 0 } : { status: 'up', rule: null },
      body,
    );
  }
  t.same(judged([rule('$.__proto__', 'equals', null)], '{}'), { status: 'up', rule: null });
  for (const [wanted, body, isSame] of [
    [1, '{"a": 0, "a": 1}', true],
    [0, '{"a": 0, "a": 1}', false],
    [1, '{"\\u0061": 1}', true],
    [1, '{"__proto__": {"a": 1}}', false],
    [1, '{"constructor": {"prototype": {"a": 1}}}', false],
    [1e308, '{"a": 1e308}', true],
    [1e308, '{"a": 1e309}', false],
    [9_007_199_254_740_992, '{"a": 9007199254740993}', true],
    [0, '{"a": -0}', true],
    [0, '{"a": 1e-400}', true],
    [1, `{"a": ${'9'.repeat(100_000)}}`, false],
  ] as const) {
    t.same(
      judged([rule('$.a', 'equals', wanted)], body),
      isSame ? { status: 'down', rule: 0 } : { status: 'up', rule: null },
      body.slice(0, 40),
    );
  }
  t.equal(({} as Record<string, unknown>)['a'], undefined, 'and nothing else has got it');
  t.same(judged([rule('$.a.length()', 'equals', 2)], '{"a": [1, 2]}'), { status: 'down', rule: 0 });
});

void t.test('the whole body is text, whatever it is', async (t) => {
  t.same(judged([rule(null, 'contains', 'FAILED')], 'job FAILED at 3'), { status: 'down', rule: 0 });
  t.same(judged([rule(null, 'matches', 'exit code [1-9]')], 'exit code 2'), { status: 'down', rule: 0 });
  t.same(judged([rule(null, 'equals', 'bad')], 'bad'), { status: 'down', rule: 0 });
});

void t.test('what cannot be read says nothing', async (t) => {
  const byPath = [rule('$.state', 'equals', 'failed')];
  for (const body of ['', '{', '{"state": "failed"', 'state=failed', '\u{FEFF}nothing', '{"state": "failed"}x']) {
    t.same(judged(byPath, body), { unreadable: 'invalid_json' }, body);
  }
  t.same(judge(byPath, '', jsonOf(Buffer.from([0x22, 0xff, 0x22]))), { unreadable: 'invalid_json' }, 'no UTF-8');
  t.same(
    judged([rule(null, 'contains', 'x'), ...byPath], 'x'),
    { status: 'down', rule: 0 },
    'unless a rule before holds',
  );
  const long = 'a'.repeat(1_000_000);
  t.same(judged([rule(null, 'matches', 'b$')], long), { unreadable: 'too_long' });
  t.same(judged([rule(null, 'matches', 'aaa')], long), { status: 'down', rule: 0 }, 'found at its beginning');
  const deep = `{"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  t.same(judged([rule('$.a', 'contains', 'x'), rule('$.b', 'equals', 1)], deep), { status: 'up', rule: null });
});

void t.test('no pattern holds up the process', async (t) => {
  const schema = createWebhookCheckSchema.shape.rules;
  const patterns = (value: string, count = 1) =>
    schema.safeParse(Array.from({ length: count }, () => ({ path: null, op: 'matches', value, status: 'down' })))
      .success;
  t.equal(patterns('(a+)+$', 8), true);
  t.equal(patterns('(a+)+$', 9), false, 'too many');
  const evil = Array.from({ length: 8 }, () => rule(null, 'matches', '(a|a)*b[ac]{20}$'));
  t.ok((await processorMs(() => judged(evil, 'a'.repeat(1_000_000)))) < 5_000);
});

void t.test('rules that say nothing are refused', async (t) => {
  const schema = createWebhookCheckSchema.shape.rules;
  for (const [wrong, path] of [
    [{ path: 'state', op: 'equals', value: 1, status: 'up' }, [0, 'path']],
    [{ path: '$.a[*]', op: 'equals', value: 1, status: 'up' }, [0, 'path']],
    [{ path: null, op: 'equals', value: 1, status: 'up' }, [0, 'value']],
    [{ path: '$.a', op: 'contains', value: '', status: 'up' }, [0, 'value']],
    [{ path: '$.a', op: 'matches', value: 3, status: 'up' }, [0, 'value']],
    [{ path: '$.a', op: 'equals', value: { a: 1 }, status: 'up' }, [0, 'value']],
    [{ path: '$.a', op: 'equals', value: 1, status: 'late' }, [0, 'status']],
    [{ path: '$.a', op: 'less', value: 1, status: 'up' }, [0, 'op']],
  ] as const) {
    t.same(schema.safeParse([wrong]).error?.issues[0]?.path, path, JSON.stringify(wrong));
  }
  t.equal(schema.safeParse(Array.from({ length: 21 }, () => rule('$.a', 'equals', 1))).success, false);
});

void t.test('any body is judged, and any is kept in bounds', async () => {
  const anyRule = fc.record({
    path: fc.constantFrom(null, '$', '$.a', '$.a[0]', "$['a b']", '$.a.length()'),
    op: fc.constantFrom('equals' as const, 'contains' as const, 'matches' as const),
    value: fc.constantFrom('a', '0', 'true'),
    status: fc.constantFrom('up' as const, 'degraded' as const, 'down' as const),
  });
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 8 }), fc.oneof(fc.string(), fc.json()), (rules, body) => {
      const verdict = judged(rules, body);
      if ('unreadable' in verdict) return true;
      return verdict.rule === null ? verdict.status === 'up' : verdict.status === rules[verdict.rule]?.status;
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 0, maxLength: 11_000, size: 'max' }), (bytes) => {
      const { text, isCut } = keptBody(Buffer.from(bytes));
      return text.length <= 10_000 && !text.includes('\0') && text.isWellFormed() && isCut === bytes.length > 10_000;
    }),
    { numRuns: 50 },
  );
});

void t.test('deliveries are known by what their senders call them', async (t) => {
  const headers = headersOf(['Webhook-Id', 'msg_1', 'X-GitHub-Delivery', 'guid', 'X-Mine', 'x'.repeat(300)]);
  const json = jsonOf(Buffer.from('{"id": "evt_1", "event_id": "Ev1"}'));
  const id = (signature: Parameters<typeof deliveryIdOf>[0]['signature'], header: string | null = null) =>
    deliveryIdOf(
      { signature, custom: { header: 'a', encoding: 'hex', prefix: '', algorithm: 'sha256', id_header: header } },
      headers,
      json,
    );
  t.equal(id('standard'), 'msg_1');
  const svix = headersOf(['svix-id', 'signed', 'svix-signature', 'v1,x', 'webhook-id', 'added by somebody']);
  t.equal(
    deliveryIdOf({ signature: 'standard', custom: null }, svix, undefined),
    'signed',
    'not by what was not signed',
  );
  t.equal(id('github'), 'guid');
  t.equal(id('stripe'), 'evt_1');
  t.equal(id('slack'), 'Ev1');
  t.equal(id('none'), 'msg_1');
  t.equal(id('custom_hmac'), null);
  t.match(id('custom_hmac', 'X-Mine'), /^sha256:[0-9a-f]{64}$/, 'one that is too long');
  const strange = jsonOf(Buffer.from('{"id": "a\\u0000b"}'));
  t.match(deliveryIdOf({ signature: 'stripe', custom: null }, headers, strange), /^sha256:/);
  t.equal(deliveryIdOf({ signature: 'stripe', custom: null }, headers, jsonOf(Buffer.from('{"id": 7}'))), null);
  t.equal(deliveryIdOf({ signature: 'stripe', custom: null }, headers, undefined), null);
});

void t.test('greetings are known', async (t) => {
  const ping = headersOf(['X-GitHub-Event', 'ping']);
  t.same(greetingOf('github', ping, undefined), { reason: 'ping' });
  t.equal(greetingOf('standard', ping, undefined), undefined);
  const asked = jsonOf(Buffer.from('{"type": "url_verification", "challenge": "c"}'));
  t.same(greetingOf('slack', headersOf([]), asked), { reason: 'url_verification', challenge: 'c' });
  t.equal(greetingOf('none', headersOf([]), asked), undefined);
  t.equal(greetingOf('slack', headersOf([]), jsonOf(Buffer.from('null'))), undefined);
});
