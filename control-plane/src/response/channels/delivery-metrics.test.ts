import { createMetrics } from '@parallax/telemetry/metrics';
import t from 'tap';
import { createDeliveryMetrics } from './delivery-metrics.ts';

void t.test('deliveries are counted by channel and outcome, with how long they took', async (t) => {
  const { registry } = createMetrics({ program: 'test' });
  t.teardown(() => registry.clear());
  const note = createDeliveryMetrics(registry);
  note.tried('email', 'sent', 120);
  note.tried('email', 'sent', 80);
  note.tried('webhook', 'timeout', 10_000);
  const text = await registry.metrics();
  t.match(text, /parallax_channel_attempts_total\{channel="email",outcome="sent",program="test"\} 2/);
  t.match(text, /parallax_channel_attempts_total\{channel="webhook",outcome="timeout",program="test"\} 1/);
  t.match(text, /parallax_channel_attempt_seconds_bucket\{(?=[^}]*le="0.1")(?=[^}]*channel="email")[^}]*\} 1/);
  note.told('email', 3_800);
  const told = await registry.metrics();
  t.match(told, /parallax_alert_told_seconds_bucket\{(?=[^}]*le="4")(?=[^}]*channel="email")[^}]*\} 1/);
  t.match(told, /parallax_alert_told_seconds_bucket\{(?=[^}]*le="3.5")(?=[^}]*channel="email")[^}]*\} 0/);
  const unread = createDeliveryMetrics(undefined);
  unread.tried('email', 'sent', 1);
  unread.told('email', 1);
});
