/** Wrong codes that cost no pause: slips of people. */
export const freeFailures = 10;
/** The pause after those, which doubles with each wrong code. */
export const firstPauseSeconds = 30;
/** The longest one. An attacker has some 9,000 tries a year of a million codes, and an owner who was careless waits for an hour. */
export const longestPauseSeconds = 3_600;

/** How long after so many wrong codes the next one is not judged. */
export function pauseSeconds(failures: number): number {
  if (failures < freeFailures) return 0;
  return Math.min(firstPauseSeconds * 2 ** (failures - freeFailures), longestPauseSeconds);
}
