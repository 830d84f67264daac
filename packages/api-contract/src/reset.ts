import { z } from 'zod';
import { route } from './route.ts';
import { idSchema, timestamp } from './shared.ts';

const removedRows = z.number().int().min(0);

/** Answer of POST /monitors/{monitor_id}/reset-stats. */
export const resetStatsSchema = z
  .object({
    monitor_id: z.number().int(),
    reset_at: timestamp.describe('What was measured before it counts nowhere any more, also when it arrives later.'),
    removed: z
      .object({
        results: removedRows,
        result_evidence: removedRows.describe('Failures that were kept in full.'),
        status_ranges: removedRows,
        probe_ranges: removedRows.describe("Runs of equal status of single probes' votes."),
        hourly_aggregates: removedRows,
        daily_aggregates: removedRows,
        diagnoses: removedRows,
        incidents: removedRows,
      })
      .describe('Rows that this call removed.'),
  })
  .meta({ id: 'ResetStats' });
export type ResetStats = z.output<typeof resetStatsSchema>;

export const resetStatsRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/:monitor_id/reset-stats',
  credentials: 'key-or-bearer',
  tag: 'Monitors',
  summary: 'Forget everything that was measured',
  description:
    'Removes results, evidence, status ranges, hourly and daily aggregates, diagnoses and incidents of the monitor, and begins a new SLA chain; ' +
    'configuration, alerts and assignments stay. From the answer on, also from a 504 on, nothing of before the reset is shown, and the status is ' +
    'UNKNOWN until the next result. 504 when the removal takes more than 20 s: the rest is done in the background. Every call is a reset of its own.',
  params: z.object({ monitor_id: idSchema }),
  body: z
    .strictObject({ confirm: z.literal(true).describe('Must be true: what is removed is gone.') })
    .meta({ id: 'ResetStatsRequest' }),
  success: { status: 200, answer: resetStatsSchema, headers: ['ETag'] },
  errors: [403, 404, 412, 504],
});
