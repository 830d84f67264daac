import { Problem } from '@parallax/api-contract';

/** There is no such incident, or it is another's. */
export function noIncident(incidentId: number): Problem {
  return new Problem('not_found', `there is no incident ${incidentId}`);
}
