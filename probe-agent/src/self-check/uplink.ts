import type { CheckOutcome } from '@parallax/checks';
import ipaddr from 'ipaddr.js';

export type UplinkOptions = {
  /** Milliseconds since the control plane was last heard. */
  readonly sessionSilentMs: () => number;
  /** Whether the default gateway answers; undefined when that cannot be told. */
  readonly gatewayAnswers: () => Promise<boolean | undefined>;
  readonly onChange: (lost: boolean) => void;
};

/** The control plane answers every 4 s: two answers missing are a failing session. */
export const sessionFailsAfterMs = 9_000;
const askEveryMs = 2_000;

/**
 * The probe checks itself (rule 12 of the consensus): its uplink is lost when its session and its default gateway fail together. While it
 * is, failures of targets elsewhere are its own. Where the gateway's state cannot be told, the uplink is never taken for lost.
 */
export class Uplink {
  readonly #options: UplinkOptions;
  #lost = false;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(options: UplinkOptions) {
    this.#options = options;
  }

  get lost(): boolean {
    return this.#lost;
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), askEveryMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Looks once; the gateway is only asked while the session is silent. */
  async look(): Promise<void> {
    if (this.#options.sessionSilentMs() < sessionFailsAfterMs) {
      this.#set(false);
      return;
    }
    if (this.#asking) return;
    this.#asking = true;
    try {
      this.#set(
        (await this.#options.gatewayAnswers()) === false && this.#options.sessionSilentMs() >= sessionFailsAfterMs,
      );
    } finally {
      this.#asking = false;
    }
  }

  /** The outcome as it counts: a failure beyond a lost uplink says nothing about its target. */
  examine(outcome: CheckOutcome): CheckOutcome {
    const isFailure = outcome.outcome === 'fail' || outcome.outcome === 'timeout';
    if (!this.#lost || !isFailure || isLocal(outcome.evidence?.address)) return outcome;
    return {
      outcome: 'probe_error',
      total: outcome.total,
      phases: outcome.phases,
      source: 'probe',
      code: 'probe_uplink',
      message: 'The probe had lost its own connection: neither the control plane nor its gateway answered.',
    };
  }

  #set(lost: boolean): void {
    if (lost === this.#lost) return;
    this.#lost = lost;
    this.#options.onChange(lost);
  }
}

/** Loopback and private addresses are reached without the uplink. */
function isLocal(address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() !== 'unicast';
}
