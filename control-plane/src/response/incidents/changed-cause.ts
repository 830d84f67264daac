import { z } from 'zod';
import type { StoredCause } from './members/queries.ts';

/** Causes that are kept of one outage; later ones are left out, since the first and what came next tell it. */
const mostCauses = 20;

const causesSchema = z.array(
  z.object({ status: z.string(), evidence: z.object({ voters: z.array(z.object({ error: z.number() })).optional() }) }),
);

/**
 * Whether an outage has another cause than it had: another status, or failures of other kinds.
 * @param causes what is stored of it
 */
export function isOtherCause(causes: unknown, now: Pick<StoredCause, 'status' | 'evidence'>): boolean {
  const known = causesSchema.safeParse(causes);
  if (!known.success || known.data.length >= mostCauses) return false;
  const last = known.data.at(-1);
  if (last === undefined) return true;
  const next = causesSchema.element.safeParse(now);
  if (!next.success) return false;
  return last.status !== next.data.status || kindsOf(last) !== kindsOf(next.data);
}

/** Without the order in which probes said it, or how many of them. */
function kindsOf({ evidence }: z.infer<typeof causesSchema.element>): string {
  const errors = (evidence.voters ?? []).map(({ error }) => error).filter((error) => error !== 0);
  return [...new Set(errors)].sort((a, b) => a - b).join();
}
