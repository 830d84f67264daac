import { lineAt } from '../runner/clock.ts';
import type { ClockLine } from '../runner/clock.ts';
import type { RunnerClock } from '../runner/runner.ts';

/**
 * The clock of a thread that only runs checks: server time for its schedule goes by the line that the main thread has told last. It stamps
 * nothing; what it gives as the effective time of a moment is the moment itself, on the monotonic clock that all threads share, and the main
 * thread puts the effective time in its place. So one clock stamps everything, and one looks for jumps.
 */
export class FollowedClock implements RunnerClock {
  #line: ClockLine;

  constructor(line: ClockLine) {
    this.#line = line;
  }

  follow(line: ClockLine): void {
    this.#line = line;
  }

  nowMs(nowUs: number): number {
    return lineAt(this.#line, nowUs) / 1_000;
  }

  checkForJump(): boolean {
    return false;
  }

  effectiveUs(monotonicUs: number): number {
    return monotonicUs;
  }
}
