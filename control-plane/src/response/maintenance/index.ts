import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { calendarRoutes } from './calendar/routes.ts';
import { startMaintenanceClock } from './job.ts';
import { maintenanceRoutes } from './routes.ts';

export { leaveMaintenanceOfDeleted, leaveMaintenanceOfMoved, removeMaintenanceOfWorkspace } from './hooks/queries.ts';
export { maintenanceOf } from './spans/queries.ts';

/** Maintenance: planned times in which what fails wakes nobody and does not count. */
export const maintenanceCapability: Capability<Context> = {
  name: 'maintenance',
  routes: (context) => [...calendarRoutes(context), ...maintenanceRoutes(context)],
  services: [{ name: 'maintenance-clock', role: 'worker', start: startMaintenanceClock }],
};
