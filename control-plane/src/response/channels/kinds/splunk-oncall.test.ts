import t from 'tap';
import { answered } from '../testing/answered.ts';
import { resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { splunkOncall } from './splunk-oncall.ts';

const trial = { settings: () => ({ api_key: 'vo-5d1c-key' }), target: 'database' };

void t.test('kinds become types of messages, times are seconds', async (t) => {
  const settings = splunkOncall.settings.parse(trial.settings());
  const typeOf = (message: ReturnType<typeof sampleMessage>) =>
    splunkOncall.render(message, settings, 'database')['message_type'];
  t.same(
    [
      sampleMessage(),
      sampleMessage({ severity: 'minor' }),
      sampleMessage({ state: 'information' }),
      sampleMessage({ kind: 'acknowledged' }),
      resolvedMessage(),
    ].map(typeOf),
    ['CRITICAL', 'WARNING', 'INFO', 'ACKNOWLEDGEMENT', 'RECOVERY'],
  );
  const { seen } = await answered(t, splunkOncall, trial);
  t.match(seen, [
    {
      path: '/integrations/generic/20131114/alert/vo-5d1c-key/database',
      json: { entity_id: 'incident:17', state_start_time: 1_772_330_400, timestamp: 1_772_330_405 },
    },
  ]);
});

void t.test('a failure with the status of a success is none', async (t) => {
  const answer = { status: 200, json: { result: 'failure', messages: 'bad key vo-5d1c-key' } };
  const result = await answered(t, splunkOncall, { ...trial, answer });
  t.match(result, { ok: false, error: { code: 'refused_message' } });
  t.notMatch(result.ok ? '' : result.error.message, 'vo-5d1c-key');
});
