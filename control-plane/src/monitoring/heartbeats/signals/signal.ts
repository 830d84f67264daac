import type { SignalKind } from '@parallax/api-contract';

/** A signal as its address, query and body say it. */
export type Signal = {
  readonly kind: Exclude<SignalKind, 'ignored'>;
  readonly exitCode: number | null;
  readonly rid: string | null;
  /** How long the run took, as the client says. */
  readonly durationMs: number | null;
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** When it came, milliseconds since the epoch. */
  readonly atMs: number;
};

/** What may be wrong with a signal that counts all the same. */
export type Warning =
  | 'method_ignored'
  | 'paused'
  | 'unknown_run'
  | 'restarted'
  | 'overlap'
  | 'too_many_runs'
  | 'too_fast'
  | 'overran'
  | 'body_truncated'
  | 'body_not_text'
  | 'body_not_json'
  | 'duration_ignored'
  | 'payload_ignored'
  | 'payload_too_large'
  | 'rid_ignored';
