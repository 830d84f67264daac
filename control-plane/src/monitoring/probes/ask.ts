import type { Bus } from '../../platform/bus/bus.ts';
import { dispatchSubject } from '../../platform/bus/subjects.ts';
import { chainAnswerSchema, diagnosisAnswerSchema, runCheckAnswerSchema } from './dispatch-messages.ts';
import type {
  ChainAnswer,
  DiagnosisAnswer,
  ReadChainRequest,
  RunCheckAnswer,
  RunCheckRequest,
} from './dispatch-messages.ts';

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

/** What the way to the probe and back may take beside the diagnosis itself. */
const diagnosisGraceMs = 4_000;

/**
 * Asks a probe, wherever its session is held, to look at the target of a monitor that it is assigned, step by step.
 * @returns what the probe gave as a diagnosis, or why there is none
 */
export async function askDiagnosis(
  bus: Pick<Bus, 'ask'>,
  probeId: number,
  request: { readonly monitorId: number; readonly deadlineMs: number },
): Promise<DiagnosisAnswer> {
  const { monitorId, deadlineMs } = request;
  const message = { type: 'diagnose', monitor_id: monitorId, deadline_ms: deadlineMs };
  const answer = await bus.ask(dispatchSubject(probeId), message, deadlineMs + diagnosisGraceMs);
  if (answer === undefined) return { refused: 'the probe did not answer in time or is not connected' };
  const parsed = diagnosisAnswerSchema.safeParse(answer);
  return parsed.success ? parsed.data : { refused: 'the probe gave a diagnosis that cannot be read' };
}

/**
 * Asks a probe, wherever its session is held, for the certificates that a monitor's target sends.
 * @returns what the probe gave as a chain, or why there is none
 */
export async function askChain(
  bus: Pick<Bus, 'ask'>,
  probeId: number,
  request: Omit<ReadChainRequest, 'type'>,
): Promise<ChainAnswer> {
  const message = { type: 'read_chain', ...request };
  const answer = await bus.ask(dispatchSubject(probeId), message, request.deadline_ms + diagnosisGraceMs);
  if (answer === undefined) return { refused: 'the probe did not answer in time or is not connected' };
  const parsed = chainAnswerSchema.safeParse(answer);
  return parsed.success ? parsed.data : { refused: 'the probe gave a chain that cannot be read' };
}
