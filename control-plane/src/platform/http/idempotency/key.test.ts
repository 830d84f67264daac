import { Problem } from '@parallax/api-contract';
import t from 'tap';
import { requireAnswer } from './decide.ts';
import { givenKey, requestDigest } from './key.ts';

void t.test('a key is one to 255 printable characters', async (t) => {
  t.equal(givenKey(undefined), undefined);
  for (const key of ['a', '~', 'a key', '"quoted"', 'x'.repeat(255), "'; drop table idempotency_keys --"]) {
    t.equal(givenKey(key), key);
  }
  for (const key of ['', 'x'.repeat(256), 'ä', 'a\u0000b', 'a\tb', 'a\u007fb', 'a\nb', '\u2028']) {
    t.throws(() => givenKey(key), { code: 'invalid_input', errors: [{ in: 'header', path: '/Idempotency-Key' }] });
  }
});

void t.test('requests that mean the same have one digest, others have others', async (t) => {
  const same = requestDigest('/a', { x: 1, y: { b: [1, 2], a: null } });
  t.ok(same.equals(requestDigest('/a', { y: { a: null, b: [1, 2] }, x: 1 })), 'the order of members does not matter');
  const others = [
    ['/b', { x: 1, y: { b: [1, 2], a: null } }],
    ['/a', { x: 1, y: { b: [2, 1], a: null } }],
    ['/a', { x: '1', y: { b: [1, 2], a: null } }],
    ['/a', { x: 1, y: { b: [1, 2] } }],
    ['/a', { 'x":1,"y': 1 }],
    ['/a', {}],
    ['/a', []],
    ['/a', null],
    ['/a', undefined],
    ['/a', { bytes: Buffer.from('{}') }],
    ['/a', { bytes: Buffer.from('[]') }],
  ] as const;
  const digests = new Set(
    [same, ...others.map(([url, body]) => requestDigest(url, body))].map((one) => one.toString('hex')),
  );
  t.equal(digests.size, others.length + 1);
});

void t.test('the answer is repeated to whom it may be shown, once there is one', async (t) => {
  const known = { isSame: true, workspaceIds: [1, 2], isDone: true, hasAnswer: true };
  const all = new Map([
    [1, 'owner'],
    [2, 'viewer'],
    [3, 'viewer'],
  ]);
  requireAnswer(known, all);
  const codeOf = (more: Partial<typeof known>, visible: ReadonlyMap<number, unknown> = all): string => {
    try {
      requireAnswer({ ...known, ...more }, visible);
      return 'repeated';
    } catch (error) {
      return error instanceof Problem ? error.code : String(error);
    }
  };
  t.equal(codeOf({ isSame: false }), 'idempotency_key_reused');
  t.equal(codeOf({}, new Map([[1, 'owner']])), 'idempotency_key_reused');
  t.equal(codeOf({ hasAnswer: false }), 'conflict');
  t.equal(codeOf({ hasAnswer: false, isDone: false }), 'idempotency_key_in_use');
  t.equal(codeOf({ hasAnswer: false, isDone: false, isSame: false }), 'idempotency_key_reused');
});
