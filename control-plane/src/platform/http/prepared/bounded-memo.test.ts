import t from 'tap';
import { boundedMemo } from './bounded-memo.ts';

void t.test('a text is worked out once, unless it is long or too many others came between', async (t) => {
  const asked: string[] = [];
  const of = boundedMemo(2, (text) => {
    asked.push(text);
    return text.length;
  });
  t.same([of('a'), of('a'), of('bb'), of('a')], [1, 1, 2, 1]);
  t.same(asked, ['a', 'bb']);
  of('ccc');
  of('a');
  t.same(asked, ['a', 'bb', 'ccc', 'a'], 'all were forgotten');
  const long = 'x'.repeat(301);
  t.same([of(long), of(long)], [301, 301]);
  t.equal(asked.filter((text) => text === long).length, 2, 'whoever sends it decides not what is kept');
});

void t.test('what is undefined is remembered too', async (t) => {
  let asked = 0;
  const of = boundedMemo<undefined>(2, () => {
    asked += 1;
    return undefined;
  });
  of('a');
  of('a');
  t.equal(asked, 1);
});
