/*
 * How often a bot may write: about once a second to one chat, 20 times a minute to one group
 * (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this).
 */
const secondMs = 1_000;
const minuteMs = 60_000;
const mostPerMinute = 20;

/** When a chat may be written to again after something is sent now, and which sendings are still to be counted. */
export type Pace = { readonly sentMs: readonly number[]; readonly freeMs: number };

/** @param sentMs when something was sent lately, oldest first */
export function paceAfter(sentMs: readonly number[], nowMs: number): Pace {
  const counted = [...sentMs.filter((at) => at > nowMs - minuteMs), nowMs].slice(-mostPerMinute);
  const [oldest = nowMs] = counted;
  const freeMs = Math.max(nowMs + secondMs, counted.length === mostPerMinute ? oldest + minuteMs : 0);
  return { sentMs: counted, freeMs };
}
