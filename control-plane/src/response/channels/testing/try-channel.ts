import { createOutboundClients } from '../../../platform/outbound-http/index.ts';
import type { Message } from '../../messages/message.ts';
import type { AnySettings, Channel, Delivered, OutgoingMail, SubscribedBrowsers } from '../channel.ts';
import { DeliveryError } from '../delivery-error.ts';
import { createIo, type ChannelParts, type TraceStep } from '../io.ts';
import { secretValues } from '../secret-values.ts';
import { sampleMessage } from './messages.ts';

/*
 * How a kind is tried: against its stand-in, through the very client that the product uses.
 *
 *   const running = await startStandIn(t, pushover);
 *   const result = await tryChannel(channel, {
 *     settings: pushover.settings(running.baseUrl), target: pushover.target, baseUrl: running.baseUrl,
 *   });
 *   t.same(running.problems, []);
 *   t.ok(result.ok);
 *
 * Everything that all kinds have in common is tried by `contract.test.ts`; `PARALLAX_CONTRACT_CHANNELS=pushover,ntfy node
 * control-plane/src/response/channels/contract.test.ts` tries only these. What is a kind's own (limits, markup, its errors) is tried beside it.
 */

export type Trial = {
  /** As they are sent to the API: read by the channel's schema here. */
  readonly settings: AnySettings;
  readonly target: string;
  readonly message?: Message;
  /** In place of the channel's own base URL. */
  readonly baseUrl?: string;
  /** Whether loopback may be reached by addresses that tenants name; true by default. */
  readonly allowsLoopback?: boolean;
  readonly messengerBotToken?: string;
  readonly now?: () => number;
  readonly caCertificates?: string;
  /** In place of the channel's own time. */
  readonly timeoutMs?: number;
  /** For web push: those of the stand-in. */
  readonly browsers?: SubscribedBrowsers | undefined;
};

export type TrialResult = (
  | { readonly ok: true; readonly delivered: Delivered }
  | { readonly ok: false; readonly error: DeliveryError }
) & {
  readonly steps: readonly TraceStep[];
  readonly mails: readonly OutgoingMail[];
  /** What `render` made. */
  readonly content: unknown;
};

/** Sends one message as the product does. Rejects for settings that the schema refuses, a target that does not parse, and defects. */
export async function tryChannel<Settings extends AnySettings, Content>(
  channel: Channel<Settings, Content>,
  trial: Trial,
): Promise<TrialResult> {
  const settings = channel.settings.parse(trial.settings);
  const read = channel.target.parse(trial.target, settings);
  if (!read.ok) throw new Error(`the target "${trial.target}" ${read.problem}`);
  const message = trial.message ?? sampleMessage();
  const steps: TraceStep[] = [];
  const mails: OutgoingMail[] = [];
  const own = channel as unknown as Channel;
  const untyped = trial.timeoutMs === undefined ? own : { ...own, timeoutMs: trial.timeoutMs };
  const io = createIo(untyped, trialParts(untyped, trial, mails), {
    secrets: secretValues(untyped, settings),
    onStep: (step) => steps.push(step),
    browsers: trial.browsers,
  });
  const content = channel.render(message, settings, read.target);
  const facts = { steps, mails, content };
  try {
    const delivered = await channel.send(content, { settings, target: read.target, message }, io);
    return { ok: true, delivered, ...facts };
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    return { ok: false, error, ...facts };
  }
}

function trialParts(channel: Channel, trial: Trial, mails: OutgoingMail[]): ChannelParts {
  const now = trial.now ?? Date.now;
  return {
    outbound: createOutboundClients({
      allowedPrivateTargets: trial.allowsLoopback === false ? [] : ['127.0.0.0/8', '::1/128'],
      deniedListeners: () => [],
      now,
      version: '0.0.0-test',
      caCertificates: trial.caCertificates,
    }),
    baseUrls: trial.baseUrl === undefined ? {} : { [channel.name]: trial.baseUrl },
    now,
    publicUrl: 'https://monitor.example.com',
    messengerBotToken: trial.messengerBotToken,
    mail: async (mail) => void mails.push(mail),
  };
}
