import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { incidentConsumers } from './consumer.ts';
import { incidentRoutes } from './routes.ts';

export { removeIncidentsOfReset, resolveIncidentOfDeleted } from './consumer.ts';

/** Incidents: confirmed outages, from their onset to their end. */
export const incidentsCapability: Capability<Context> = {
  name: 'incidents',
  routes: incidentRoutes,
  consumers: incidentConsumers,
};
