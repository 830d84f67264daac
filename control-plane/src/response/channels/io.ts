import type { OutboundClients, OutboundErrorCode, OutboundStep } from '../../platform/outbound-http/index.ts';
import { OutboundError } from '../../platform/outbound-http/index.ts';
import type { Channel, ChannelIo, OutgoingMail, SubscribedBrowsers } from './channel.ts';
import { DeliveryError } from './delivery-error.ts';
import type { DeliveryErrorCode, DeliveryFault } from './delivery-error.ts';
import { maskSecrets } from './mask-secrets.ts';

/** What channels of this process act with. */
export type ChannelParts = {
  readonly outbound: OutboundClients;
  /** Addresses of fixed services that the operator replaced, by the channel's name. */
  readonly baseUrls: Readonly<Record<string, string>>;
  readonly now: () => number;
  readonly publicUrl: string;
  readonly messengerBotToken: string | undefined;
  /** Hands a mail to the server. @throws DeliveryError */
  readonly mail: (mail: OutgoingMail, signal: AbortSignal) => Promise<void>;
};

/** A step as it is shown: secrets are masked. */
export type TraceStep = OutboundStep | (Omit<OutboundStep, 'name'> & { readonly name: 'mail' });

export type IoOptions = {
  /** Words that must not stand in traces and errors. */
  readonly secrets: readonly string[];
  readonly onStep?: (step: TraceStep) => void;
  /** Those of the owner of the configuration; for web push. */
  readonly browsers?: SubscribedBrowsers | undefined;
};

const usualMs = 10_000;
const longestMs = 30_000;

/** The base URL in force for a channel, without a slash at its end; empty where tenants name the address. */
export function baseUrlOf(
  channel: Pick<Channel, 'name' | 'baseUrl'>,
  baseUrls: Readonly<Record<string, string>>,
): string {
  return (baseUrls[channel.name] ?? channel.baseUrl ?? '').replace(/\/+$/, '');
}

/**
 * What one sending through a channel acts with. The channel's time runs from this call, for all of its exchanges together.
 * Errors are DeliveryErrors, and neither they nor the steps hold a secret.
 */
export function createIo(channel: Channel, parts: ChannelParts, options: IoOptions): ChannelIo {
  const end = performance.now() + Math.min(longestMs, channel.timeoutMs ?? usualMs);
  const baseUrl = baseUrlOf(channel, parts.baseUrls);
  const remaining = () => Math.max(1, Math.ceil(end - performance.now()));
  return {
    baseUrl,
    now: parts.now,
    publicUrl: parts.publicUrl,
    messengerBotToken: parts.messengerBotToken,
    browsers: options.browsers,
    request: async (request) => {
      if (performance.now() >= end)
        throw new DeliveryError('timeout', 'passing', 'There was no time left for the request.');
      const secrets = [...options.secrets, ...(request.secrets ?? [])];
      const client = isBelow(request.url, baseUrl) ? parts.outbound.trusted : parts.outbound.guarded;
      const onStep = (step: OutboundStep) => options.onStep?.({ ...step, detail: maskSecrets(step.detail, secrets) });
      try {
        return await client(request, { timeoutMs: remaining(), onStep });
      } catch (error) {
        if (error instanceof OutboundError) throw deliveryErrorOf(error, secrets);
        throw error;
      }
    },
    mail: async (mail) => {
      const started = performance.now();
      const say = (ok: boolean, detail: string) =>
        options.onStep?.({
          name: 'mail',
          ok,
          durationMs: Math.round((performance.now() - started) * 10) / 10,
          detail: maskSecrets(detail, options.secrets),
        });
      try {
        await parts.mail(mail, AbortSignal.timeout(remaining()));
        say(true, 'the mail server took it');
        return {};
      } catch (error) {
        say(false, error instanceof DeliveryError ? error.message : 'the mail could not be sent');
        throw error;
      }
    },
  };
}

/** Whether an address is the operator's own or below it: same origin, and its path. */
function isBelow(text: string, baseUrl: string): boolean {
  if (baseUrl === '') return false;
  const [url, base] = [URL.parse(text), URL.parse(baseUrl)];
  if (url === null || base === null || url.origin !== base.origin) return false;
  const path = base.pathname.replace(/\/+$/, '');
  return path === '' || url.pathname === path || url.pathname.startsWith(`${path}/`);
}

const meanings: Readonly<Record<OutboundErrorCode, readonly [DeliveryErrorCode, DeliveryFault]>> = {
  invalid_request: ['internal', 'message'],
  // Names change: what is denied today may be reached tomorrow, so only a streak of such messages switches the configuration off.
  address_denied: ['address_denied', 'message'],
  dns_failed: ['dns_failed', 'passing'],
  connect_failed: ['connect_failed', 'passing'],
  tls_failed: ['tls_failed', 'passing'],
  timeout: ['timeout', 'passing'],
  answer_too_slow: ['answer_too_slow', 'passing'],
  unexpected_answer: ['unexpected_answer', 'passing'],
  redirected: ['redirected', 'message'],
  internal: ['internal', 'passing'],
};

function deliveryErrorOf(error: OutboundError, secrets: readonly string[]): DeliveryError {
  const [code, fault] = meanings[error.code];
  return new DeliveryError(code, fault, maskSecrets(error.message, secrets));
}
