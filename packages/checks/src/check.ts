import type { z } from 'zod';
import type { FactName, Facts } from './facts.ts';
import type { CheckOutcome, Phases } from './outcome.ts';
import type { Socket } from 'node:net';
import type { AddressPolicy, Purpose } from './net/address-policy.ts';
import type { TlsMode } from './net/connection-settings.ts';
import type { Failure } from './net/failure.ts';
import type { HostPort } from './net/host.ts';
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
  /** The proxy of the monitor, which every connection of the check goes through; absent: none. */
  readonly proxy?: Proxy | undefined;
  /** Local address that connections leave from, used for targets of its own family; absent: the system's choice. */
  readonly sourceAddress?: string | undefined;
  /** A buffering trace for `POST /monitors/test`; absent in scheduled runs. */
  readonly trace?: ((step: string, detail: string) => void) | undefined;
  /**
   * Facts that the monitor's assertions look at. Where it is present a check gives its evidence for a good answer too, and those of
   * these facts that the evidence does not hold, beside its outcome. Absent in most runs, which then need not gather them.
   */
  readonly wanted?: ReadonlySet<FactName> | undefined;
  /** Sent as User-Agent where a protocol has one. */
  readonly userAgent: string;
  /** Path of the browser that checks may start; absent where the operator has not switched browser checks on. */
  readonly browser?: string | undefined;
  /** The account that the browser runs under; absent: nobody where this process is root, else its own. */
  readonly browserAccount?: { readonly uid: number; readonly gid: number } | undefined;
  /** Sockets of Docker that the operator of this machine lets checks ask, as normal absolute paths; absent: none. */
  readonly dockerSockets?: readonly string[] | undefined;
};

/**
 * An address that the policy has judged, and the port that it was judged with. With a tunnel they are those of the proxy, and the target
 * is reached by opening the tunnel only.
 */
export type Endpoint = { readonly address: string; readonly port: number; readonly tunnel?: Tunnel };

/** The way through a proxy to one target. */
export type Tunnel = {
  /** `host:port` of the target, for sentences. */
  readonly target: string;
  /** A fresh connection to the target by way of the proxy. What `dial` says of its socket holds for this one. */
  readonly open: (context: CheckContext) => Promise<Dialed>;
};

export type Located =
  | { readonly ok: true; readonly endpoint: Endpoint; readonly dnsUs: number }
  | { readonly ok: false; readonly failure: Failure; readonly dnsUs: number; readonly endpoint?: Endpoint };

export type Dialed =
  | { readonly ok: true; readonly socket: Socket; readonly connectUs: number }
  | { readonly ok: false; readonly failure: Failure; readonly connectUs: number };

/** Where connections of a check go first; it leads on to the target from there. */
export type Proxy = {
  /** Scheme, host and port, for evidence. */
  readonly name: string;
  /** Judges the target and finds the proxy. Stands in the place of the look-up of the target's name, which is the proxy's to do. */
  readonly locate: (
    host: string,
    port: number,
    context: CheckContext,
    purpose: Purpose | undefined,
  ) => Promise<Located>;
};

/** What a check type gives: the outcome, and facts that the runner judges assertions by and then strips. */
export type CheckResult = CheckOutcome & { readonly facts?: Facts };

/** What the reference and forms say of a type beyond its settings. */
export type TypeReference = {
  /** Targets as they are written; the first stands in examples. */
  readonly targets: readonly [string, ...string[]];
  /** Settings of the example: those without which the type says little. Secrets are `…`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Phases that a run that gets to its end has; some are left out by some settings. */
  readonly phases: readonly (keyof Phases)[];
  /** Facts of the type in `evidence.details`, each with its meaning; some are left out by some settings. */
  readonly details: Readonly<Record<string, string>>;
};

/**
 * The contract of a check type: one file that exports one such value, and one line in `registry.ts`.
 *
 * `run` never throws for anything that the target or the network does: that is an outcome. It throws only for a defect of the
 * program, which the runner turns into `probe_error`/`probe_internal`.
 */
export type CheckType<Name extends string = string, Schema extends z.ZodObject = z.ZodObject> = {
  readonly type: Name;
  /** One line for tables and forms. */
  readonly summary: string;
  readonly reference: TypeReference;
  /**
   * Settings of this type as stored on the monitor; every field has a default, so `{}` is valid unless the type cannot run without one.
   * The registry adds those that every type takes. Made when they are first asked for, and always the same.
   */
  readonly settings: () => Schema;
  /** Top-level names of settings that are secret: sealed at rest, never answered, logged or exported. */
  readonly secretFields: readonly string[];
  /** What a probe must be able to do; a probe without it gets no such assignment. */
  readonly requires: readonly ProbeCapability[];
  /** The same for what only some targets need, beside `requires`. */
  readonly requiresFor?: (target: Target) => readonly ProbeCapability[];
  /** Cheap types are rechecked often while a voter fails (rule 7). */
  readonly cheap: boolean;
  /** Says what is wrong with a target, or undefined; runs at the API and again on the probe. */
  readonly validateTarget: (target: Target, settings: z.infer<Schema>) => string | undefined;
  /**
   * Where a check connects, for whoever looks at the target in the same way; a sentence when it cannot be read. Absent for types that speak HTTP, ask for a name
   * or have no port.
   */
  readonly addressOf?: (target: Target, settings: z.infer<Schema>) => Address | string;
  readonly run: (target: Target, settings: z.infer<Schema>, context: CheckContext) => Promise<CheckResult>;
};

/** Where a check connects, and how its connection is to be secured. */
export type Address = HostPort & { readonly tls: TlsMode };

/** What a probe may or may not have on its machine. */
export const probeCapabilities = ['icmp', 'ipv6', 'browser', 'traceroute', 'docker'] as const;
export type ProbeCapability = (typeof probeCapabilities)[number];
