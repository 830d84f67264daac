import { checkKinds } from '@parallax/checks';
import type { CheckKind, CheckOutcome } from '@parallax/checks';
import { z } from 'zod';

// What travels as JSON on the core subject `dispatch.<probe id>` to the replica that holds the probe's session. Everything but
// `run_check`, `diagnose` and `read_chain` is a hint: losing one costs time, never truth, because the session also polls the database.

const id = z.number().int().min(1).max(2_147_483_647);
const counter = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A configuration that need not be saved: nothing of its run is recorded. Secrets stand in `settings` like any field. */
export const unsavedAssignmentSchema = z.object({
  protocol: z.string(),
  url: z.string(),
  interval_seconds: z.number().int(),
  timeout_seconds: z.number().int(),
  confirmations: z.number().int(),
  degraded_threshold_ms: z.number().int().nullable(),
  settings: z.record(z.string(), z.unknown()),
  /** Nothing beyond public addresses when absent: a replica of an older release sent it. */
  private_targets: z.object({ all: z.boolean(), ranges: z.array(z.string()) }).default({ all: false, ranges: [] }),
});
export type UnsavedAssignment = z.infer<typeof unsavedAssignmentSchema>;

/** Asks the probe for one check and its answer. */
export const runCheckRequestSchema = z.object({
  type: z.literal('run_check'),
  monitor_id: z.number().int().min(0),
  kind: z.enum(checkKinds),
  /** Milliseconds from now after which an answer is not wanted; at most two minutes. */
  deadline_ms: z.number().int().min(1).max(120_000),
  /** Server time in milliseconds from which on nobody waits: what is on its way for so long is not run, and leaves no result. */
  expires_at_ms: counter.optional(),
  trace: z.boolean(),
  assignment: unsavedAssignmentSchema.optional(),
});
export type RunCheckRequest = {
  readonly type: 'run_check';
  readonly monitor_id: number;
  readonly kind: CheckKind;
  readonly deadline_ms: number;
  readonly expires_at_ms?: number | undefined;
  readonly trace: boolean;
  readonly assignment?: UnsavedAssignment | undefined;
};

/** Asks the probe to look at an assigned monitor's target step by step; answered with a `DiagnosisAnswer`. */
export const diagnoseRequestSchema = z.object({
  type: z.literal('diagnose'),
  monitor_id: id,
  deadline_ms: z.number().int().min(1).max(60_000),
});
export type DiagnoseRequest = z.infer<typeof diagnoseRequestSchema>;

/** Asks the probe for the certificates that a monitor's target sends in one handshake; answered with a `ChainAnswer`. */
export const readChainRequestSchema = z.object({
  type: z.literal('read_chain'),
  monitor_id: id,
  deadline_ms: z.number().int().min(1).max(60_000),
  /** Of a monitor that the agent may not know because it is paused. */
  assignment: unsavedAssignmentSchema.optional(),
});
export type ReadChainRequest = z.infer<typeof readChainRequestSchema>;

const positionSchema = z.object({ epoch: counter, shard: counter, seq: counter });
/** Everything up to `seq` of an epoch and shard is committed. */
export type DispatchPosition = z.infer<typeof positionSchema>;

export const dispatchMessageSchema = z.discriminatedUnion('type', [
  runCheckRequestSchema,
  diagnoseRequestSchema,
  readChainRequestSchema,
  /** Other voters' opinions are wanted at once (rule 7). */
  z.object({ type: z.literal('recheck'), monitor_ids: z.array(id).min(1).max(1_000) }),
  /** The probe's assignments have a new revision. */
  z.object({ type: z.literal('assignments') }),
  z.object({ type: z.literal('acknowledged'), positions: z.array(positionSchema).max(1_000) }),
  /** The ingest misses `seq` and has everything below. */
  z.object({ type: z.literal('resend'), epoch: counter, shard: counter, seq: counter }),
  z.object({ type: z.literal('revoked') }),
  /** A newer session of the probe was opened, maybe by another replica. */
  z.object({ type: z.literal('superseded'), session_id: counter }),
]);
export type DispatchMessage = z.infer<typeof dispatchMessageSchema>;

const traceStepSchema = z.object({ at_us: z.number(), step: z.string(), detail: z.string() });

/** What a `run_check` is answered with. The outcome is checked for its shape only where it is used; probes are not trusted. */
export const runCheckAnswerSchema = z.union([
  z.object({
    answer: z.object({
      effective_us: counter,
      outcome: z.custom<CheckOutcome>((value) => checkOutcomeSchema.safeParse(value).success),
      trace: z.array(traceStepSchema),
    }),
  }),
  z.object({ refused: z.string() }),
]);
export type RunCheckAnswer = z.infer<typeof runCheckAnswerSchema>;

/** What a `diagnose` is answered with. The diagnosis is whatever the probe gave as one; `readDiagnosis` of the checks judges it. */
export const diagnosisAnswerSchema = z.union([
  z.object({ diagnosis: z.record(z.string(), z.unknown()) }),
  z.object({ refused: z.string() }),
]);
export type DiagnosisAnswer = { readonly diagnosis: unknown } | { readonly refused: string };

/** What a `read_chain` is answered with: whatever the probe gave as one. */
export const chainAnswerSchema = z.union([
  z.object({ chain: z.record(z.string(), z.unknown()) }),
  z.object({ refused: z.string() }),
]);
export type ChainAnswer = { readonly chain: unknown } | { readonly refused: string };

const duration = z.number().int().min(0).max(4_000_000_000);
/** The shape of a `CheckOutcome` as a probe may send it. */
export const checkOutcomeSchema = z.object({
  outcome: z.enum(['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped', 'probe_error']),
  total: duration,
  phases: z.object({
    dns: duration.optional(),
    connect: duration.optional(),
    tls: duration.optional(),
    first_byte: duration.optional(),
    transfer: duration.optional(),
  }),
  source: z.enum(['target', 'resolver', 'probe']).optional(),
  code: z.string().max(64).optional(),
  message: z.string().max(4_096).optional(),
  evidence: z.record(z.string(), z.unknown()).optional(),
});
