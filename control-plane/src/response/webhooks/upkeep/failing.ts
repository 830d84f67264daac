const hourMs = 3_600_000;
/** Hours without success after which mails are sent; the last switches the webhook off. */
const hoursOfMails = [24, 96, 120] as const;
const leastFailures = 10;
const leastSpanMs = 12 * hourMs;

/** What is known of failures since the last success. Times are milliseconds since the epoch. */
export type Failures = {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly count: number;
  readonly mailsSent: number;
};

/** Which mail is due: how many were sent with it, after how many hours, and whether the webhook is switched off. Undefined: none. */
export function mailDue(
  failures: Failures,
  nowMs: number,
): { readonly mails: number; readonly hours: number; readonly isOff: boolean } | undefined {
  const { sinceMs, lastMs, count, mailsSent } = failures;
  // A few failures in a short time may all be one mishap of a receiver that is asked seldom.
  if (count < leastFailures || lastMs - sinceMs < leastSpanMs) return undefined;
  const place = hoursOfMails.findLastIndex((hours) => nowMs - sinceMs >= hours * hourMs);
  const hours = hoursOfMails[place];
  if (hours === undefined || place < mailsSent) return undefined;
  return { mails: place + 1, hours, isOff: place === hoursOfMails.length - 1 };
}
