import { Problem } from '@parallax/api-contract';

/** The same for a monitor that never was, a deleted one and another's. */
export function noMonitor(monitorId: number): Problem {
  return new Problem('not_found', `there is no monitor ${monitorId}`);
}
