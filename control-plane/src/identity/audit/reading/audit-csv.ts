import { writeCsv } from '../../../platform/csv/write-csv.ts';
import type { AuditEventAnswer } from '@parallax/api-contract';

const columns = [
  'created_at',
  'id',
  'workspace_id',
  'user_id',
  'actor',
  'action',
  'subject_type',
  'subject_id',
  'remote_address',
  'request_id',
] as const;

/** Events as a CSV file with a head; what happened in detail is JSON in the last column. */
export function auditCsv(events: readonly AuditEventAnswer[]): string {
  return writeCsv([
    [...columns, 'detail'],
    ...events.map((event) => [...columns.map((column) => event[column]), JSON.stringify(event.detail)]),
  ]);
}
