import { BackOff } from '../back-off.ts';
import { messageOf } from '../ports.ts';
import type { Logger } from '../ports.ts';
import type { Identity } from '../state/identity.ts';
import { ProbeRefused } from './probe-refused.ts';
import { certificateTimes } from './renewal-time.ts';
import type { CertificateTimes } from './renewal-time.ts';

export type CertificateKeeperOptions = {
  readonly identity: Identity;
  /** The server's time as well as it is known; the wall clock before the first synchronisation. */
  readonly nowMs: () => number;
  /** Whether `nowMs` was ever synchronised. */
  readonly isSynchronised: () => boolean;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  /** Asks for a new certificate; rejects when there is none to be had, with ProbeRefused when there never will be. */
  readonly renew: (identity: Identity, nowMs: number) => Promise<Identity>;
  /** Makes the new identity durable. */
  readonly keep: (identity: Identity) => Promise<void>;
  /** The control plane does not know this probe any more. */
  readonly onRefused: () => void;
  readonly logger: Logger;
};

/** A renewal that failed is tried again after this, doubling up to an hour. */
const retryFirstMs = 60_000;
const retryMostMs = 3_600_000;
/** So long a session may go on with the certificate from before, waiting for a quiet moment. */
const reconnectWithinMs = 3_600_000;
/** A machine with a wrong clock cannot see that its certificate has run out: after so many failed sessions it asks. */
const suspiciousFailures = 20;

/** Holds the probe's certificate and renews it every day, while the session goes on. */
export class CertificateKeeper {
  readonly #options: CertificateKeeperOptions;
  readonly #backOff: BackOff;
  #identity: Identity;
  #times: CertificateTimes;
  /** No renewal is asked for earlier: the last one failed, or has only just been made. */
  #notBeforeMs = -Infinity;
  /** Nor is one in the background: probes that came back together are spread. */
  #spreadUntilMs = -Infinity;
  #renewing: Promise<void> | undefined;
  #usedCertificate: Uint8Array | undefined;
  #renewedAtMs = -Infinity;
  /** How far the server's time is from `nowMs`, as the last certificate shows; only while nothing better is known. */
  #serverAheadMs = 0;

  constructor(options: CertificateKeeperOptions) {
    this.#options = options;
    this.#identity = options.identity;
    this.#times = certificateTimes(options.identity.certificateDer);
    this.#backOff = new BackOff({ firstMs: retryFirstMs, mostMs: retryMostMs, random: options.random });
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** Resolves when no renewal is under way. */
  get settled(): Promise<void> {
    return this.#renewing ?? Promise.resolve();
  }

  /** Renews in the background when that is due and no failure was too recent. To be called every now and then while a session stands. */
  tick(): void {
    if (this.#renewing !== undefined) return;
    if (this.#options.monotonicMs() < Math.max(this.#notBeforeMs, this.#spreadUntilMs)) return;
    if (this.#nowMs() >= this.#times.dueMs) void this.#renew(true);
  }

  /**
   * A session stands again: a renewal that failed need not wait any longer, but many probes come back together and not all renew at once.
   * A refusal that follows is asked about without that wait.
   */
  reachable(): void {
    this.#backOff.reset();
    this.#notBeforeMs = this.#renewedAtMs + retryFirstMs;
    this.#spreadUntilMs = this.#options.monotonicMs() + this.#options.random() * retryFirstMs;
  }

  /**
   * The identity for a session that is about to be made. Renews first when the certificate has run out, the control plane has refused it,
   * or nothing has worked for long; a renewal that fails then is no reason not to try: only the server knows the time for certain.
   */
  async forSession(failures: number, wasRefused: boolean): Promise<Identity> {
    const isExpired = this.#nowMs() >= this.#times.endsMs;
    const isSuspicious = failures > 0 && failures % suspiciousFailures === 0;
    const mayAsk = this.#options.monotonicMs() >= this.#notBeforeMs || isSuspicious;
    if ((isExpired || wasRefused || isSuspicious) && mayAsk) await this.#renew(false);
    this.#usedCertificate = this.#identity.certificateDer;
    return this.#identity;
  }

  /** Whether the session should be made anew now, so that it stands on the new certificate. */
  wantsReconnect(isQuiet: boolean): boolean {
    if (this.#usedCertificate === undefined || this.#usedCertificate === this.#identity.certificateDer) return false;
    return isQuiet || this.#options.monotonicMs() - this.#renewedAtMs >= reconnectWithinMs;
  }

  #nowMs(): number {
    return this.#options.nowMs() + (this.#options.isSynchronised() ? 0 : this.#serverAheadMs);
  }

  #renew(hasSession: boolean): Promise<void> {
    this.#renewing ??= this.#renewOnce(hasSession).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewOnce(hasSession: boolean): Promise<void> {
    const { renew, keep, logger, monotonicMs, nowMs, onRefused } = this.#options;
    try {
      const renewed = await renew(this.#identity, this.#nowMs());
      await keep(renewed);
      this.#identity = renewed;
      this.#renewedAtMs = monotonicMs();
      this.#times = certificateTimes(renewed.certificateDer);
      this.#serverAheadMs = this.#times.issuedMs - nowMs();
      this.#backOff.reset();
      // Whatever the clock says: a certificate that was just made is not renewed at once.
      this.#notBeforeMs = monotonicMs() + retryFirstMs;
      logger.info({ not_after: new Date(this.#times.endsMs).toISOString() }, 'the certificate was renewed');
    } catch (error) {
      const waitMs = this.#backOff.next();
      this.#notBeforeMs = monotonicMs() + waitMs;
      const { endsMs } = this.#times;
      const fields = {
        error: messageOf(error),
        not_after: new Date(endsMs).toISOString(),
        again_in_s: Math.round(waitMs / 1_000),
      };
      logger.warn(fields, 'the certificate could not be renewed; it is tried again');
      if (error instanceof ProbeRefused && !hasSession) onRefused();
    }
  }
}
