import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { incidentChangeRoutes } from './changes/routes.ts';
import { incidentConsumers } from './consumer.ts';
import { startTelling } from './job.ts';
import { incidentRoutes } from './routes.ts';
import { incidentTemplateRoutes } from './templates/templates.routes.ts';

export { acknowledgeByLink, acknowledgeIncident } from './changes/gateway.ts';
export {
  moveIncidents,
  removeIncidentsOfReset,
  removeIncidentsOfWorkspace,
  resolveIncidentOfDeleted,
} from './hooks/queries.ts';

/** Incidents: confirmed outages, from their onset to their end, of all that fails for one cause, and what people say of them. */
export const incidentsCapability: Capability<Context> = {
  name: 'incidents',
  routes: (context) => [
    ...incidentRoutes(context),
    ...incidentChangeRoutes(context),
    ...incidentTemplateRoutes(context),
  ],
  services: [{ name: 'incident-messages', role: 'worker', start: startTelling }],
  consumers: incidentConsumers,
};
