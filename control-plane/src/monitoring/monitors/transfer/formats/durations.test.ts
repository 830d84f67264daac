import t from 'tap';
import { intervalOf, timeoutOf } from './durations.ts';

void t.test('intervals by their unit, or by what they can only be', async (t) => {
  const cases: readonly (readonly [string, 'seconds' | 'minutes' | 'guess', number, number])[] = [
    ['300', 'seconds', 300, 0],
    ['20', 'seconds', 20, 0],
    ['5', 'minutes', 300, 0],
    ['1440', 'minutes', 86_400, 0],
    ['1441', 'minutes', 1_441, 0],
    ['29', 'guess', 1_740, 1],
    ['30', 'guess', 30, 0],
    ['5m', 'seconds', 300, 0],
    ['90 s', 'minutes', 90, 0],
    ['1.5 hours', 'guess', 5_400, 0],
    ['2 Minutes', 'guess', 120, 0],
  ];
  for (const [text, unit, seconds, warned] of cases) {
    const warnings: string[] = [];
    t.equal(intervalOf(text, unit, warnings), seconds, `${text} in ${unit}`);
    t.equal(warnings.length, warned, `${text}: warnings`);
  }
  for (const text of ['', '-5', 'm', '5 parsecs', '1e3', '0x10', '5,5', 'constructor']) {
    t.throws(() => intervalOf(text, 'seconds', []), { name: 'RowFault' }, text);
  }
});

void t.test('timeouts are whole seconds up to a minute', async (t) => {
  t.equal(timeoutOf('30', []), 30);
  t.equal(timeoutOf('500ms', []), 1);
  t.equal(timeoutOf('5000', []), 5);
  const warnings: string[] = [];
  t.equal(timeoutOf('90', warnings), 60);
  t.match(warnings, [/90 s/]);
});
