import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { maintenanceCalendarRoutes } from './calendar/routes.ts';
import { maintenanceImportRoutes } from './import/routes.ts';
import { startMaintenanceClock, startMaintenanceScope } from './job.ts';
import { maintenanceLifecycleRoutes } from './lifecycle/routes.ts';
import { maintenancePreviewRoutes } from './preview/routes.ts';
import { maintenanceRoutes } from './routes.ts';

export {
  leaveMaintenanceOfDeleted,
  leaveMaintenanceOfMoved,
  removeMaintenanceOfWorkspace,
  removeMonitorMaintenance,
} from './hooks/queries.ts';
export { joinOccurrences } from './cover/queries.ts';
export { maintenanceOfMonitors, maintenanceOfSubjects } from './intervals/queries.ts';
export { scheduleColumns, scheduleRow, storedOf } from './claims/queries.ts';
export { windowsOf } from './recurrence/occurrences.ts';
export { instantOf, isZone, wallOf } from './recurrence/zone.ts';
export { scheduleOf } from './schedule.ts';
export { coveredSubjects } from './scope/covers.ts';
export { isEmptyScope, placeOfGroup, placeOfSubject, requireFound, sameCovered, scopeOfBody } from './scope/given.ts';
export type { Covered, NamedScope } from './scope/given.ts';
export { isWorkspaceThere, missingOf, subjectsCovered } from './scope/queries.ts';

/** Planned maintenance: what is told is held while it lasts, and its time is left out of uptime. */
export const maintenanceCapability: Capability<Context> = {
  name: 'maintenance',
  routes: (context) => [
    ...maintenanceRoutes(context),
    ...maintenanceLifecycleRoutes(context),
    ...maintenancePreviewRoutes(context),
    ...maintenanceCalendarRoutes(context),
    ...maintenanceImportRoutes(context),
  ],
  services: [
    { name: 'maintenance-clock', role: 'worker', start: startMaintenanceClock },
    { name: 'maintenance-scope', role: 'worker', start: startMaintenanceScope },
  ],
};
