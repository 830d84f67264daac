import type { CheckResult } from '../check.ts';
import { Session } from './session.ts';
import type { SessionPlan } from './session-plan.ts';
import { Ended } from './talk.ts';

/**
 * Holds one conversation with a target and gives its verdict with times and evidence: `talk` ends well, or by `Ended` from any depth. Opens
 * nothing by itself and leaves no socket. Defects of the program are thrown on.
 */
export async function hold(plan: SessionPlan, talk: (session: Session) => Promise<void>): Promise<CheckResult> {
  const session = new Session(plan);
  try {
    await talk(session);
    const outcome = session.verdict(undefined);
    await session.leave();
    return outcome;
  } catch (error) {
    if (!(error instanceof Ended)) throw error;
    return session.verdict(error.failure);
  } finally {
    session.destroy();
  }
}
