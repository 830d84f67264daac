const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Length of a step of the chart of response times. Whole hours and days, which are summed up already, but for windows of a few hours.
 * @param hours of the window
 * @returns milliseconds; at most some 400 of them in the longest window
 */
export function stepOf(hours: number): number {
  if (hours <= 6) return 10 * minuteMs;
  if (hours <= 168) return hourMs;
  return hours <= 720 ? 6 * hourMs : dayMs;
}
