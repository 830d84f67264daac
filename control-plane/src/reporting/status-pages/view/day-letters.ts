import { availabilityOf } from '../../statistics/index.ts';
import type { TimeByStatus } from '../../statistics/index.ts';
import type { DayLetter } from './page-view.ts';

/**
 * What a day was. What a correction takes out counts as not measured, so a day that consists of it is no good one.
 * @param lengthMs of the day, or of its part that is over
 */
export function letterOf(time: TimeByStatus, lengthMs: number): DayLetter {
  const { upMs, degradedMs, maintenanceMs } = time;
  const downtimeMs = time.downMs + time.timeoutMs;
  const measuredMs = upMs + degradedMs + downtimeMs;
  if (downtimeMs > 0) return downtimeMs * 100 >= measuredMs ? 'x' : 'p';
  if (degradedMs > 0) return 'd';
  if (maintenanceMs * 2 > lengthMs) return 'm';
  return (lengthMs - measuredMs - maintenanceMs) * 10 > lengthMs ? 'n' : 'u';
}

/** From the worst to the best. */
const worstFirst: readonly DayLetter[] = ['x', 'p', 'd', 'm', 'n', 'u'];

/** The letter of several together. @param letters those of the members that were there; none: nothing was measured */
export function worstLetter(letters: readonly DayLetter[]): DayLetter {
  const [only] = letters;
  if (letters.length === 1 && only !== undefined) return only;
  return worstFirst.find((letter) => letters.includes(letter)) ?? 'n';
}

/** Per cent of what was measured, cut after two digits and never rounded up; null: nothing was measured. */
export function uptimeOf(time: TimeByStatus): number | null {
  const { uptimeMs, measuredMs } = availabilityOf(time);
  return shareOf(uptimeMs, measuredMs);
}

/** Per cent of the time that was measured, cut the same way; null: there is no time. */
export function measuredOf(time: TimeByStatus): number | null {
  const { measuredMs, unknownMs, maintenanceMs, pausedMs, excludedMs } = availabilityOf(time);
  return shareOf(measuredMs, measuredMs + unknownMs + maintenanceMs + pausedMs + excludedMs);
}

/** In whole numbers: the time of a large group times 10,000 is more than a double holds exactly. */
function shareOf(part: number, whole: number): number | null {
  return whole <= 0 ? null : Number((BigInt(Math.floor(part)) * 10_000n) / BigInt(Math.ceil(whole))) / 100;
}
