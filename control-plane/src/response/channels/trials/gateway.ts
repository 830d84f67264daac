import { randomUUID } from 'node:crypto';
import { invalidInput } from '@parallax/api-contract';
import type { AlertChannelTest } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import type { RequestFacts } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { subscribedBrowsers } from '../../web-push/index.ts';
import type { Locale } from '../../messages/index.ts';
import type { AnySettings } from '../channel.ts';
import { DeliveryError } from '../delivery-error.ts';
import type { TraceStep } from '../io.ts';
import { reachProblem } from '../chat-reach/gateway.ts';
import { consentProblem } from '../mail-targets/consent.ts';
import type { AnyChannel } from '../registry.ts';
import { attempt } from '../sending/attempt.ts';
import { channelParts } from '../sending/parts.ts';
import { enableTarget, findTarget } from '../sending/queries.ts';
import { targetKey } from '../sending/target-key.ts';
import { recordTest } from './record.queries.ts';
import { testMessage } from './test-message.ts';

/** Who tries a channel. */
export type Tester = {
  readonly userId: number;
  readonly email: string | null;
  readonly isVerified: boolean;
  readonly locale: Locale;
  readonly timezone: string;
};

/**
 * Sends a test message and tells each step. No transaction is open meanwhile.
 * @throws Problem `invalid_input` for a target that does not fit, `rate_limited`
 */
export async function sendTest(
  context: Context,
  request: RequestFacts,
  tester: Tester,
  what: {
    readonly channel: AnyChannel;
    readonly settings: AnySettings;
    readonly target: string;
    readonly configId: number | null;
  },
): Promise<AlertChannelTest> {
  const { channel, settings } = what;
  const read = channel.target.parse(what.target, settings);
  if (!read.ok) throw invalidInput('body', '/target', 'invalid_target', read.problem);
  const target = read.target;
  await countTest(context, request, tester.userId, targetKey(channel, tester.userId, target));
  if (channel.name === 'email') {
    const known = await findTarget(context.database.worker, tester.userId, channel.name, target);
    const problem = consentProblem(
      target,
      { email: tester.email, isVerified: tester.isVerified },
      known === null ? null : { confirmed: known.confirmed_at !== null, unsubscribed: known.unsubscribed_at !== null },
    );
    if (problem !== undefined) return answerOf([], new DeliveryError(problem.code, 'target', problem.message));
  }
  const to = { channel: channel.name, settings, userId: tester.userId, target };
  const unreached = await reachProblem(context.database.worker, to);
  if (unreached !== undefined) {
    return answerOf([], new DeliveryError('target_not_confirmed', 'target', unreached));
  }
  const id = randomUUID();
  const message = testMessage({ ...tester, id, nowMs: context.now(), publicUrl: context.publicUrl });
  const browsers = subscribedBrowsers(context, tester.userId);
  const steps: TraceStep[] = [];
  const outcome = await attempt(
    channel,
    channelParts(context, message.id),
    { settings, target, message, browsers },
    (step) => steps.push(step),
  );
  const sent = {
    ownerId: tester.userId,
    alert: null,
    channel: channel.name,
    configId: what.configId,
    targetKey: targetKey(channel, tester.userId, target, settings),
    targetMasked: channel.target.mask(target),
    message,
    latencyMs: outcome.latencyMs,
    error: outcome.ok ? null : outcome.error,
  };
  await recordTest(context.database.worker, sent, context.now());
  if (!outcome.ok) {
    if (outcome.defect !== undefined)
      context.log.error({ err: outcome.defect, channel: channel.name }, 'a channel failed');
    return answerOf(steps, outcome.error);
  }
  await enableTarget(context.database.worker, { ownerId: tester.userId, channel: channel.name, target });
  return answerOf(steps, undefined);
}

/** @throws Problem `rate_limited` */
async function countTest(context: Context, request: RequestFacts, userId: number, key: string): Promise<void> {
  const { limits, database } = context;
  for (const [name, rate, whose] of [
    [`channel-tests:${userId}`, limits.rate('channel_test'), 'of this account'],
    [`channel-tests-to:${key}`, limits.rate('channel_test_to_target'), 'to this target'],
  ] as const) {
    applyRates(request.reply, [await countOnce(database.api, name, rate)], 'test messages', whose);
  }
}

function answerOf(steps: readonly TraceStep[], error: DeliveryError | undefined): AlertChannelTest {
  const told = steps.map(({ name, ok, durationMs, detail }) => ({ name, ok, duration_ms: durationMs, detail }));
  const detail = error === undefined ? 'the message was taken' : error.message;
  return {
    ok: error === undefined,
    error: error === undefined ? null : { code: error.code, message: error.message },
    steps: [...told, { name: 'result', ok: error === undefined, duration_ms: 0, detail }],
  };
}
