import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { answered } from '../testing/answered.ts';
import { hostileMessage, longMessage, sampleMessage } from '../testing/messages.ts';
import { randomIdOf, vk } from './vk.ts';

const token = 'vk1.a.0123456789';
const trial = { settings: () => ({ token }), target: '2000000001' };
const settings = vk.settings.parse(trial.settings());

void t.test('a message is sent once however often it is sent', async (t) => {
  const first = vk.render(sampleMessage(), settings, '1').random_id;
  t.equal(
    vk.render(sampleMessage({ title: 'Otherwise' }), settings, '1').random_id,
    first,
    'by the id of the message alone',
  );
  t.not(vk.render(sampleMessage({ id: 'n-17-2' }), settings, '1').random_id, first);
  fc.assert(
    fc.property(fc.string(), (id) => {
      const number = randomIdOf(id);
      return Number.isInteger(number) && number > 0 && number < 2 ** 31;
    }),
  );
  const sent = await answered(t, vk, { ...trial, answer: { status: 200, json: { response: 81 } } });
  t.match(sent, { ok: true, delivered: { reference: '81' } });
  const form = Object.fromEntries(sent.seen[0]?.form ?? []);
  t.match(form, { peer_id: '2000000001', random_id: first, access_token: token, v: '5.199', disable_mentions: '1' });
  t.notMatch(sent.seen[0]?.path, token);
});

void t.test('at most 4,096 characters, without mentions', (t) => {
  for (const character of ['x', 'ж', '👩‍👩‍👧‍👦'])
    t.ok(vk.render(longMessage(character), settings, '1').message.length <= 4096);
  const { message } = vk.render(hostileMessage('[club1|Bank] @id1 *id2 (name) @all a*b [x] 2 * 3'), settings, '1');
  t.notMatch(message, /\[club1\|/);
  t.notMatch(message, /[@*]\w/);
  t.match(message, '[x] 2 * 3', 'what means nothing stays');
  t.end();
});

void t.test('numbers of errors', async (t) => {
  for (const [error_code, error] of [
    [5, { code: 'refused_credentials', fault: 'configuration' }],
    [901, { code: 'unknown_target', fault: 'target' }],
    [917, { code: 'unknown_target', fault: 'target' }],
    [950, { code: 'unknown_target', fault: 'target' }],
    [1012, { code: 'unknown_target', fault: 'target' }],
    [1117, { code: 'refused_credentials', fault: 'configuration' }],
    [6, { code: 'rate_limited', fault: 'passing' }],
    [9, { code: 'rate_limited', fault: 'passing' }],
    [10, { code: 'service_unavailable', fault: 'passing' }],
    [914, { code: 'refused_message', fault: 'message' }],
  ] as const) {
    const answer = { status: 200, json: { error: { error_code, error_msg: `about ${token}` } } };
    const result = await answered(t, vk, { ...trial, answer });
    t.match(result, { ok: false, error }, `${error_code}`);
    t.notMatch(result.ok ? '' : result.error.message, token);
  }
  const nothing = await answered(t, vk, { ...trial, answer: { status: 200, json: {} } });
  t.match(nothing, { ok: false, error: { code: 'unexpected_answer' } });
});

void t.test('a target is a number', (t) => {
  const read = (text: string) => vk.target.parse(text, settings);
  t.same(read(' id1234567 '), { ok: true, target: '1234567' });
  for (const text of ['', '0', '-5', '12a', '1'.repeat(20), 'durov']) t.notOk(read(text).ok, text);
  t.equal(vk.target.mask('1234567'), '…4567');
  t.end();
});
