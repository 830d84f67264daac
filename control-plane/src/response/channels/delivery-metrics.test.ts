import { createMetrics } from '@parallax/telemetry';
import t from 'tap';
import { createDeliveryMetrics } from './delivery-metrics.ts';

void t.test('deliveries are counted by channel and outcome, with how long they took', async (t) => {
  const { registry } = createMetrics({ program: 'test' });
  t.teardown(() => registry.clear());
  const note = createDeliveryMetrics(registry);
  note('email', 'sent', 120);
  note('email', 'sent', 80);
  note('webhook', 'timeout', 10_000);
  const text = await registry.metrics();
  t.match(text, /parallax_channel_attempts_total\{channel="email",outcome="sent",program="test"\} 2/);
  t.match(text, /parallax_channel_attempts_total\{channel="webhook",outcome="timeout",program="test"\} 1/);
  t.match(text, /parallax_channel_attempt_seconds_bucket\{(?=[^}]*le="0.1")(?=[^}]*channel="email")[^}]*\} 1/);
  createDeliveryMetrics(undefined)('email', 'sent', 1);
});
