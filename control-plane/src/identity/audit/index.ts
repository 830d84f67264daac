import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { auditRoutes } from './routes.ts';

/** Who changed what: a row for each write, read by owners. */
export const auditCapability: Capability<Context> = { name: 'audit', routes: auditRoutes };

export { recordAudit, recordAudits } from './queries.ts';
export type { AuditEvent } from './queries.ts';
