import { errorCodeOf } from '@parallax/checks';
import { z } from 'zod';

/** Votes that made a range, in its evidence: voter 0 is the control plane itself, error 0 is none. */
const votesSchema = z.array(z.object({ voter: z.number(), vote: z.string(), error: z.number() })).catch([]);

/**
 * Why an outage began, in one line: the error that most of the failing voters met, and how many of those that voted failed. Null when
 * the votes are not known.
 * @param stored the voters of a range's evidence
 */
export function causeOf(stored: unknown): string | null {
  const votes = votesSchema.parse(stored ?? []);
  const failing = votes.filter(({ vote }) => vote === 'DOWN' || vote === 'TIMEOUT');
  if (failing.length === 0) return null;
  const numbers = new Map<string, number>();
  for (const { error } of failing) {
    const code = errorCodeOf(error) ?? 'failed';
    numbers.set(code, (numbers.get(code) ?? 0) + 1);
  }
  const [code] = [...numbers].toSorted(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))[0] ?? ['failed'];
  return `${code}, ${whoFailed(failing.length, votes)}`;
}

function whoFailed(failing: number, votes: z.output<typeof votesSchema>): string {
  if (votes.every(({ voter }) => voter === 0)) return 'seen by the control plane';
  return votes.length === 1 ? 'one probe' : `${failing} of ${votes.length} probes`;
}
