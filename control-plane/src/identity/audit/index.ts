export { recordAudit } from './queries.ts';
export type { AuditEvent } from './queries.ts';
