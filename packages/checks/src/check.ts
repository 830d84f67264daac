import type { z } from 'zod';
import type { CheckOutcome } from './outcome.ts';
import type { AddressPolicy } from './net/address-policy.ts';
import type { Resolver } from './net/resolve.ts';
import type { StopSignal } from './stop.ts';

/** What a check is pointed at. `url` is what the customer wrote; each check type parses and validates its own form of it. */
export type Target = { readonly url: string };

/** Collaborators of a run: time, cancellation, the network's rules. A check opens no connection except through them. */
export type CheckContext = {
  /** Aborted at the deadline or when the run is no longer wanted. A check that sees it leaves no socket, file or process. */
  readonly signal: StopSignal;
  /** Milliseconds that the whole check may take. */
  readonly timeoutMs: number;
  /** Monotonic time in milliseconds with fractions. */
  readonly clock: () => number;
  /** Wall clock in milliseconds since 1970, for the dates of certificates only; absent: `Date.now`. */
  readonly wallClock?: () => number;
  readonly addresses: AddressPolicy;
  readonly resolver: Resolver;
  /** Local address that connections leave from, used for targets of its own family; absent: the system's choice. */
  readonly sourceAddress?: string | undefined;
  /** A buffering trace for `POST /monitors/test`; absent in scheduled runs. */
  readonly trace?: ((step: string, detail: string) => void) | undefined;
  /** Sent as User-Agent where a protocol has one. */
  readonly userAgent: string;
};

/**
 * The contract of a check type: one file that exports one such value, and one line in `registry.ts`.
 *
 * `run` never throws for anything that the target or the network does: that is an outcome. It throws only for a defect of the
 * program, which the runner turns into `probe_error`/`probe_internal`.
 */
export type CheckType<Name extends string = string, Schema extends z.ZodType = z.ZodType> = {
  readonly type: Name;
  /** One line for tables and forms. */
  readonly summary: string;
  /** Settings as stored on the monitor; every field has a default, so `{}` is valid unless the type cannot run without one. */
  readonly settings: Schema;
  /** Top-level names of settings that are secret: sealed at rest, never answered, logged or exported. */
  readonly secretFields: readonly string[];
  /** What a probe must be able to do; a probe without it gets no such assignment. */
  readonly requires: readonly ProbeCapability[];
  /** Cheap types are rechecked often while a voter fails (rule 7). */
  readonly cheap: boolean;
  /** Says what is wrong with a target, or undefined; runs at the API and again on the probe. */
  readonly validateTarget: (target: Target, settings: z.infer<Schema>) => string | undefined;
  readonly run: (target: Target, settings: z.infer<Schema>, context: CheckContext) => Promise<CheckOutcome>;
};

/** What a probe may or may not have on its machine. */
export const probeCapabilities = ['icmp', 'ipv6', 'browser'] as const;
export type ProbeCapability = (typeof probeCapabilities)[number];
