import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { answerFor, chooseEncoding, isSame, prepareAnswer } from './prepared-answer.ts';
import { tokenBuckets } from './token-buckets.ts';

t.test('a client gets the best encoding that it takes', async (t) => {
  const cases: readonly [string | undefined, string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['BR', 'br'],
    ['deflate', 'identity'],
    ['gzip;q=nonsense', 'identity'],
  ];
  for (const [header, encoding] of cases) t.equal(chooseEncoding(header), encoding, String(header));
});

t.test('a body is the same in every encoding, and has one version', async (t) => {
  const text = 'a status page '.repeat(1_000);
  const answer = prepareAnswer(200, { 'content-type': 'text/plain' }, text);
  const sent = (acceptEncoding: string | undefined) => answerFor(answer, { ifNoneMatch: undefined, acceptEncoding });
  t.equal(sent(undefined).body?.toString(), text);
  t.equal(gunzipSync(sent('gzip').body ?? '').toString(), text);
  t.equal(brotliDecompressSync(sent('br').body ?? '').toString(), text);
  t.equal(sent('br').headers['content-length'], String(sent('br').body?.length));
  t.equal(sent('br').headers['content-encoding'], 'br');
  t.equal(sent('br').headers['etag'], sent(undefined).headers['etag']);
  t.equal(sent('br').body, sent('br').body, 'it is made once');
  const same = answerFor(answer, { ifNoneMatch: answer.etag, acceptEncoding: 'br' });
  t.equal(same.status, 304);
  t.equal(same.body, undefined);
  t.equal(same.headers['content-length'], undefined);
});

t.test('versions are compared weakly', async (t) => {
  t.ok(isSame('"a", W/"b"', 'W/"b"'));
  t.ok(isSame('"b"', 'W/"b"'));
  t.ok(isSame('*', 'W/"b"'));
  t.notOk(isSame('"c"', 'W/"b"'));
  t.notOk(isSame(undefined, 'W/"b"'));
});

t.test('a key may save its tokens up, and no more', async (t) => {
  const clock = { ms: 0 };
  const buckets = tokenBuckets({ perSecond: 10, burst: 3, mostKeys: 2, now: () => clock.ms });
  const taken = (key: string) => Array.from({ length: 4 }, () => buckets.take(key));
  t.strictSame(taken('a'), [0, 0, 0, 100]);
  clock.ms += 100;
  t.strictSame(taken('a'), [0, 100, 100, 100]);
  clock.ms += 60_000;
  t.strictSame(taken('a'), [0, 0, 0, 100]);
  t.strictSame(taken('b'), [0, 0, 0, 100], 'each key has its own');
  buckets.take('c');
  t.equal(buckets.take('a'), 0, 'the oldest of too many keys is forgotten');
});
