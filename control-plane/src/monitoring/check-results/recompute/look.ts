import type { Status } from '../../consensus/index.ts';
import type { PackedDifference } from './hour-differences.ts';
import type { RangeDifference } from './range-differences.ts';

/** The monitor's status as it is stored, where it is not the present one. */
export type StatusDifference = { readonly expected: Status; readonly found: Status };
/** A time of which ranges cannot be derived, with the reason. Microseconds. */
export type Underived = { readonly untilUs: number; readonly reason: string };

/** Everything in which what is derived of a monitor differs from what is stored. */
export type Look = {
  readonly ranges: readonly RangeDifference[];
  readonly status: StatusDifference | undefined;
  readonly packed: readonly PackedDifference[];
  /** What was looked at, microseconds. */
  readonly fromUs: number;
  readonly untilUs: number;
  readonly underived: Underived | undefined;
};

export type RecomputeOptions = {
  readonly monitorId: number;
  /** Half-open, milliseconds; absent: all that is kept. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** How long an owner of the shard is given to take in what was changed, and to heal ranges. */
  readonly patienceMs?: number | undefined;
};

export type Healing = {
  /** Packed hours and days that were written anew. */
  readonly packed: number;
  /** `healed`: their owner has derived the ranges anew; `waiting`: it will, when an ingest runs; `none`: nothing was wrong with them. */
  readonly ranges: 'none' | 'healed' | 'waiting';
};
