import { problemSchema } from '@parallax/api-contract';
import { z } from 'zod';

/** A 422 names at least one part of the request, in the documented form and with a documented code. */
const refusal = problemSchema.required({ errors: true }).extend({ errors: problemSchema.shape.errors.unwrap().min(1) });

/** What of an answer is not as 422 are documented; undefined for all others. */
export function refusalFault(status: number, body: unknown): string | undefined {
  if (status !== 422) return undefined;
  const read = refusal.safeParse(body);
  return read.success ? undefined : `${z.prettifyError(read.error)}: ${JSON.stringify(body)}`;
}
