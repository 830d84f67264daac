import { Problem } from '@parallax/api-contract';

/** There is no such heartbeat, or it is another's. */
export function noHeartbeat(heartbeatId: number): Problem {
  return new Problem('not_found', `there is no heartbeat ${heartbeatId}`);
}
