import { recipientStates, reportFormats, runStatuses, runTriggers } from '@parallax/api-contract';
import type { ScheduledReportRun } from '@parallax/api-contract';
import { z } from 'zod';
import { maskedAddress } from '../../../platform/mail/mail-address.ts';

/** Recipients of a run, as they stood when it was mailed. */
export const runRecipients = z.array(z.object({ address: z.string(), state: z.enum(recipientStates) }));
export type RunRecipients = z.output<typeof runRecipients>;

/** A run as it is read. Times are milliseconds since the epoch. */
export const runRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  from_at: z.number(),
  to_at: z.number(),
  trigger: z.enum(runTriggers),
  status: z.enum(runStatuses),
  recipients: runRecipients,
  formats: z.array(z.enum(reportFormats)),
  error: z.string().nullable(),
  created_at: z.number(),
  finished_at: z.number().nullable(),
});
export type RunRow = z.output<typeof runRow>;

const iso = (ms: number): string => new Date(ms).toISOString();

/** A run as the API answers it. */
export function runAnswer(row: RunRow, isMasked: boolean): ScheduledReportRun {
  return {
    id: row.id,
    from: iso(row.from_at),
    to: iso(row.to_at),
    trigger: row.trigger,
    status: row.status,
    recipients: row.recipients.map(({ address, state }) => ({
      address: isMasked ? maskedAddress(address) : address,
      state,
    })),
    files: row.formats,
    error: row.error,
    created_at: iso(row.created_at),
    finished_at: row.finished_at === null ? null : iso(row.finished_at),
  };
}
