import type { Bus } from '../../platform/bus/bus.ts';
import { dispatchSubject } from '../../platform/bus/subjects.ts';
import { runCheckAnswerSchema } from './dispatch-messages.ts';
import type { RunCheckAnswer, RunCheckRequest } from './dispatch-messages.ts';

/** A `run_check` without its type. */
export type ProbeRequest = Omit<RunCheckRequest, 'type'>;

/**
 * Asks a probe for one check, wherever its session is held.
 * @param timeoutMs how long to wait for the answer; a little more than the request's own deadline
 * @returns the answer; the reason when the probe or its session refused; undefined when nobody answered in time
 */
export async function askProbe(
  bus: Bus,
  probeId: number,
  request: ProbeRequest,
  timeoutMs: number,
): Promise<RunCheckAnswer | undefined> {
  const answer = await bus.ask(dispatchSubject(probeId), { type: 'run_check', ...request }, timeoutMs);
  if (answer === undefined) return undefined;
  const parsed = runCheckAnswerSchema.safeParse(answer);
  return parsed.success ? parsed.data : { refused: 'the probe gave an answer that cannot be read' };
}
