import type { Message } from '../../messages/index.ts';
import type { AnySettings, Delivered, SubscribedBrowsers } from '../channel.ts';
import { DeliveryError } from '../delivery-error.ts';
import { createIo, type ChannelParts, type TraceStep } from '../io.ts';
import { maskSecrets } from '../mask-secrets.ts';
import type { AnyChannel } from '../registry.ts';
import { secretValues } from '../secret-values.ts';

/** What came of one sending. */
export type Attempt =
  | { readonly ok: true; readonly latencyMs: number; readonly delivered: Delivered }
  | { readonly ok: false; readonly latencyMs: number; readonly error: DeliveryError; readonly defect?: unknown };

/** Renders a message and sends it once. Never rejects: a defect of the channel is an error that passes, and is handed out. */
export async function attempt(
  channel: AnyChannel,
  parts: ChannelParts,
  what: {
    readonly settings: AnySettings;
    readonly target: string;
    readonly message: Message;
    /** Undefined: the channel is none of browsers. */
    readonly browsers: SubscribedBrowsers | undefined;
  },
  onStep?: (step: TraceStep) => void,
): Promise<Attempt> {
  const started = performance.now();
  const latencyMs = () => Math.round(performance.now() - started);
  const secrets = secretValues(channel, what.settings);
  const io = createIo(channel, parts, { secrets, browsers: what.browsers, ...(onStep && { onStep }) });
  try {
    const content = channel.render(what.message, what.settings, what.target);
    const delivered = await channel.send(content, what, io);
    return { ok: true, latencyMs: latencyMs(), delivered };
  } catch (error) {
    if (error instanceof DeliveryError) {
      const masked = new DeliveryError(
        error.code,
        error.fault,
        maskSecrets(error.message, secrets),
        error.retryAfterMs,
      );
      return { ok: false, latencyMs: latencyMs(), error: masked };
    }
    const internal = new DeliveryError('internal', 'passing', 'The channel failed by a defect of the product.');
    return { ok: false, latencyMs: latencyMs(), error: internal, defect: error };
  }
}
