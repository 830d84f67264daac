import { createHash, createHmac } from 'node:crypto';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { judgeWebapp, judgeWidget } from './signed-data.ts';
import { botToken, signWebapp, signWidget, widgetKey } from './testing.ts';

const nowMs = 1_790_000_000_000;
const nowSeconds = nowMs / 1_000;
const person = { id: 42, first_name: 'Ада', username: 'ada', auth_date: nowSeconds - 5 };
const judge = (data: Record<string, string | number>, at = nowMs) => judgeWidget(data, botToken, at);

void t.test('what the widget signed tells who signed in', async (t) => {
  t.match(judge(signWidget(person)), { holds: true, subject: '42' });
  const upper = signWidget(person);
  const other = judge({ ...upper, hash: String(upper['hash']).toUpperCase() });
  t.same(other, judge(upper), 'the same proof in other letters is the same proof');
});

void t.test('what was altered, added or left out does not hold', async (t) => {
  const data = signWidget(person);
  const { username: _left, ...less } = data;
  const cases: [what: string, data: Record<string, string | number>, reason: string][] = [
    ['another person', { ...data, id: 43 }, 'wrong_signature'],
    ['another name', { ...data, first_name: 'Eve' }, 'wrong_signature'],
    ['a field added', { ...data, is_admin: 'true' }, 'wrong_signature'],
    ['a field left out', less, 'wrong_signature'],
    ['a younger date', { ...data, auth_date: nowSeconds }, 'wrong_signature'],
    ['no hash', { ...person }, 'malformed'],
    ['a short hash', { ...data, hash: 'ab' }, 'malformed'],
    [
      'the key of the mini app',
      signWidget(person, createHmac('sha256', 'WebAppData').update(botToken).digest()),
      'wrong_signature',
    ],
    [
      'the token of another bot',
      signWidget(person, createHash('sha256').update('1:other').digest()),
      'wrong_signature',
    ],
    ['no person', signWidget({ auth_date: nowSeconds }), 'malformed'],
    ['a person of no number', signWidget({ ...person, id: '42 or 1=1' }), 'malformed'],
    ['person zero', signWidget({ ...person, id: 0 }), 'malformed'],
    ['no date', signWidget({ id: 42 }), 'malformed'],
    ['an hour old', signWidget({ ...person, auth_date: nowSeconds - 3_600 }), 'too_old'],
    ['601 s old', signWidget({ ...person, auth_date: nowSeconds - 601 }), 'too_old'],
    ['of the future', signWidget({ ...person, auth_date: nowSeconds + 61 }), 'too_old'],
  ];
  for (const [what, given, reason] of cases) t.same(judge(given), { holds: false, reason }, what);
  t.match(judge(signWidget({ ...person, auth_date: nowSeconds - 600 })), { holds: true }, '600 s old');
});

void t.test('a line break in a name makes no other person of what was signed', async (t) => {
  const eve = signWidget({ auth_date: nowSeconds, first_name: 'x\nid=1\nlast_name=y', id: 666, username: 'z' });
  const forged = { auth_date: nowSeconds, first_name: 'x', id: 1, last_name: 'y\nid=666', username: 'z' };
  t.same(judge({ ...forged, hash: String(eve['hash']) }), { holds: false, reason: 'malformed' });
  t.same(judge(eve), { holds: false, reason: 'malformed' });
});

void t.test('what the mini app was given tells who signed in, and is judged by its own key', async (t) => {
  const user = JSON.stringify({ id: 42, first_name: 'Ада & Ева', language_code: 'ru' });
  const fields = { query_id: 'AAE', user, auth_date: String(nowSeconds), signature: 'abc_-' };
  const judge = (text: string) => judgeWebapp(text, botToken, nowMs);
  t.match(judge(signWebapp(fields)), { holds: true, subject: '42' });
  const refused: [what: string, initData: string, reason: string][] = [
    ['the key of the widget', signWebapp(fields, widgetKey), 'wrong_signature'],
    ['a field added', `${signWebapp(fields)}&start_param=1`, 'wrong_signature'],
    ['a field twice', `${signWebapp(fields)}&auth_date=${nowSeconds}`, 'malformed'],
    ['the hash twice', `${signWebapp(fields)}&hash=${'0'.repeat(64)}`, 'malformed'],
    ['another person', signWebapp(fields).replace('%3A42%2C', '%3A43%2C'), 'wrong_signature'],
    ['older than an hour', signWebapp({ ...fields, auth_date: String(nowSeconds - 3_601) }), 'too_old'],
    ['no person', signWebapp({ auth_date: String(nowSeconds) }), 'malformed'],
    ['a person that is no JSON', signWebapp({ ...fields, user: '{' }), 'malformed'],
    ['a person of no number', signWebapp({ ...fields, user: '{"id":"42"}' }), 'malformed'],
    ['nothing', 'x', 'malformed'],
    ['broken encoding', '%%%=%zz&hash=%', 'malformed'],
  ];
  for (const [what, given, reason] of refused) t.same(judge(given), { holds: false, reason }, what);
});

void t.test('nothing that is made up holds, and nothing throws', async () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.nat())), fc.string(), (fields, text) => {
      return !judge(fields).holds && !judgeWebapp(text, botToken, nowMs).holds;
    }),
  );
});
