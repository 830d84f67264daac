/** More than a day is not believed. */
const longestMs = 86_400_000;

/** What `Retry-After` asks to wait, milliseconds: seconds or a date (RFC 9110, 10.2.3). Undefined when it is absent or says nothing. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  const ms = /^[0-9]{1,9}(\.[0-9]{1,6})?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  if (Number.isNaN(ms)) return undefined;
  return Math.min(longestMs, Math.max(0, Math.ceil(ms)));
}
