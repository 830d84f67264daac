import type { Evidence, Phases } from './outcome.ts';

/**
 * What assertions may look at. All of it comes from outside and is bounded by whoever gives it: texts as for `Evidence`, the body at
 * 4 MiB. A check type gives what its evidence does not hold; the runner takes the rest from there.
 */
export type Facts = {
  readonly status?: number;
  readonly headers?: ReadonlyArray<readonly [string, string]>;
  /** Text of the body, decoded. */
  readonly body?: string;
  /** The body went on after what `body` holds of it. */
  readonly bodyTruncated?: boolean;
  /** Bytes of the body as they were read, before any decoding. */
  readonly bodyBytes?: number;
  readonly finalUrl?: string;
  readonly redirects?: number;
  /** Whole days until the certificate ends, negative after its end. */
  readonly certificateDays?: number;
  /** Values of an answer: DNS records, rows of a query. */
  readonly answers?: readonly string[];
  /** Packets lost, in percent of those sent. */
  readonly lossPercent?: number;
  readonly jitterUs?: number;
  /** The address that answered. */
  readonly address?: string;
  /** Version of the protocol or of the server, such as `1.1` or `8.0.36`. */
  readonly version?: string;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
};
export type FactName = keyof Facts;

/** All that is known of a run: the times, and the facts of the check type over those of its evidence. */
export type Known = Facts & { readonly totalUs: number; readonly phases: Phases };

/** Puts together what a run says; what `facts` holds wins over the evidence. */
export function knownOf(
  run: { readonly total: number; readonly phases: Phases; readonly evidence?: Evidence },
  facts: Facts = {},
): Known {
  const evidence = run.evidence ?? {};
  const sent = evidence.packets_sent ?? 0;
  return {
    ...(evidence.status !== undefined && { status: evidence.status }),
    ...(evidence.headers !== undefined && { headers: evidence.headers }),
    ...(evidence.body !== undefined && { body: evidence.body }),
    ...(evidence.final_url !== undefined && { finalUrl: evidence.final_url }),
    ...(evidence.redirects !== undefined && { redirects: evidence.redirects }),
    ...(evidence.certificate !== undefined && { certificateDays: evidence.certificate.days_left }),
    ...(evidence.answers !== undefined && { answers: evidence.answers }),
    ...(sent > 0 && { lossPercent: (100 * (sent - (evidence.packets_received ?? 0))) / sent }),
    ...(evidence.jitter_ms !== undefined && { jitterUs: Math.round(evidence.jitter_ms * 1_000) }),
    ...(evidence.address !== undefined && { address: evidence.address }),
    ...(evidence.http_version !== undefined && { version: evidence.http_version }),
    ...facts,
    details: { ...evidence.details, ...facts.details },
    totalUs: run.total,
    phases: run.phases,
  };
}
