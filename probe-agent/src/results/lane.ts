import type { BackOff } from '../back-off.ts';
import type { LogStream } from './stream.ts';

/** Where the publishing of one stream stands. */
export type Lane = {
  readonly stream: LogStream;
  readonly backOff: BackOff;
  /** Next number to publish. */
  next: number;
  inFlight: { readonly fromSeq: number; readonly toSeq: number }[];
  /** Counts the times that it went back; answers to what was published before are ignored. */
  generation: number;
  notBeforeMs: number;
  /** Since when something has been waiting to be published. */
  waitingSinceMs: number | undefined;
  urgent: boolean;
  /** When an acknowledgement last moved, or publishing began. */
  progressMs: number;
  asked: { seq: number; atMs: number } | undefined;
  pumping: boolean;
  again: boolean;
  timer: NodeJS.Timeout | undefined;
};

/** A lane that has published nothing yet. */
export function newLane(stream: LogStream, backOff: BackOff, nowMs: number): Lane {
  return {
    stream,
    backOff,
    next: stream.acknowledged + 1,
    inFlight: [],
    generation: 0,
    notBeforeMs: 0,
    waitingSinceMs: undefined,
    urgent: false,
    progressMs: nowMs,
    asked: undefined,
    pumping: false,
    again: false,
    timer: undefined,
  };
}
