import type { CertificateEvidence, ErrorCode } from '../outcome.ts';

/** A step that went wrong. */
export type Trouble = { readonly code: ErrorCode; readonly message: string };

/**
 * What one vantage point sees of a target, to be laid beside what another sees. Plain JSON of at most some 20 kB; durations are whole
 * microseconds. Nothing of the monitor's secrets is used or shown: the page is asked for as a stranger would.
 */
export type Diagnosis = {
  readonly host: string;
  /** 0 where the protocol has no port to connect to: then nothing beyond the name and the path is looked at. */
  readonly port: number;
  readonly dns: {
    /** In numeric order, IPv4 first; at most sixteen. */
    readonly addresses: readonly string[];
    readonly duration_us: number;
    readonly failures: ReadonlyArray<Trouble & { readonly family: 4 | 6 }>;
  };
  /** One attempt for each of the first eight addresses. */
  readonly connections: ReadonlyArray<{
    readonly address: string;
    readonly connect_us?: number;
    readonly trouble?: Trouble;
  }>;
  /** The way to the first address that may be reached, where the machine can trace it. */
  readonly path?: {
    readonly address: string;
    /** Whether the target itself answered. */
    readonly reached: boolean;
    readonly answered_hops: number;
    /** The farthest hop that answered; null for none. */
    readonly last_answer: string | null;
    /** Round trip to the target. */
    readonly rtt_us?: number;
    /** In order, for a person; at most thirty. */
    readonly hops: readonly string[];
  };
  /** On the first address that took a connection, where the target speaks TLS, from the start or after STARTTLS. */
  readonly tls?: {
    readonly address: string;
    readonly tls_us?: number;
    readonly certificate?: CertificateEvidence;
    readonly trouble?: Trouble;
  };
  /** What came first on the same address: the answer to a GET, or what the server says unasked within a second. */
  readonly answer?: {
    readonly address: string;
    readonly first_byte_us?: number;
    readonly status?: number;
    readonly headers?: ReadonlyArray<readonly [string, string]>;
    /** At most 4 KiB. */
    readonly body?: string;
    readonly trouble?: Trouble;
  };
};
