import { randomUUID } from 'node:crypto';
import { Problem } from '@parallax/api-contract';
import type { AlertTest } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { deliver, maskTarget, recordTest, targetKeyOf, testMessage } from '../../channels/index.ts';
import type { StoredTarget } from '../rules/targets.ts';

type TestResult = AlertTest['results'][number];

/** Whose alert it is: the configurations and the workspace by which it is sent. */
export type TestPlace = {
  readonly ownerId: number;
  readonly workspaceId: number;
  readonly alert: { readonly id: number; readonly name: string };
};

/** Language and zone of the owner, which are those of targets that have none of their own. */
export type OwnersTongue = { readonly locale: 'en' | 'ru'; readonly timezone: string };

/** The real target of an owner's target. */
export const keyOf = (ownerId: number, { channel, config_id: configId, target }: StoredTarget): string =>
  targetKeyOf({ ownerId, channel, configId, target });

/** Sends a test message to one target, unless it has had as many as it may. No transaction is open meanwhile. */
export async function sendTest(
  context: Context,
  place: TestPlace,
  target: StoredTarget,
  tongue: OwnersTongue,
): Promise<TestResult> {
  const masked = { channel: target.channel, target_masked: maskTarget(target) };
  const rate = context.limits.rate('channel_test_to_target');
  const counted = await countOnce(context.database.api, `channel-tests-to:${keyOf(place.ownerId, target)}`, rate);
  if (counted.used > rate.quota) {
    const seconds = Math.ceil(counted.resetSeconds);
    const error = `${rate.quota} test messages an hour go to one target; try again in ${seconds} s`;
    return { ...masked, ok: false, error_code: 'rate_limited', error, latency_ms: null, retry_after_seconds: seconds };
  }
  const locale = target.locale ?? tongue.locale;
  const timezone = target.timezone ?? tongue.timezone;
  const message = testMessage({
    id: randomUUID(),
    locale,
    timezone,
    nowMs: context.now(),
    publicUrl: context.publicUrl,
  });
  const { ownerId, workspaceId, alert } = place;
  const result = await deliver(context, {
    ownerId,
    workspaceId,
    channel: target.channel,
    configId: target.config_id,
    target: target.target,
    message,
  });
  const sent = {
    ownerId,
    alert: { ...alert, workspaceId },
    channel: target.channel,
    configId: target.config_id,
    targetKey: keyOf(ownerId, target),
    targetMasked: masked.target_masked,
    message,
    latencyMs: result.latencyMs,
    error: result.ok ? null : result,
  };
  await recordTest(context.database.worker, sent, context.now());
  const tried = { ...masked, latency_ms: Math.round(result.latencyMs), retry_after_seconds: null };
  return result.ok
    ? { ...tried, ok: true, error_code: null, error: null }
    : { ...tried, ok: false, error_code: result.code, error: result.message };
}

/**
 * Refuses a test of which nothing was sent because each of its targets has had as many as it may.
 * @throws Problem `rate_limited`, for as long as the one lasts that ends last
 */
export function requireAnySent(results: readonly TestResult[]): void {
  const waits = results.flatMap(({ retry_after_seconds: seconds }) => (seconds === null ? [] : [seconds]));
  if (waits.length === 0 || waits.length < results.length) return;
  const seconds = Math.max(...waits);
  throw new Problem(
    'rate_limited',
    `each target of this alert has had as many test messages as may go to one in an hour; try again in ${seconds} s`,
    { retryAfterSeconds: seconds },
  );
}
