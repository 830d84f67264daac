import { z } from 'zod';
import { route } from './route.ts';
import { booleanQuery, idSchema } from './shared.ts';

/** Checks of one file, and bytes of it. */
export const heartbeatImportLimits = { rows: 500, bytes: 1_048_576 } as const;

const rowSchema = z
  .object({
    row: z.number().int().describe('The first check of the file is 1.'),
    status: z.enum(['created', 'skipped', 'failed']).describe('With `dry_run` what it would be.'),
    name: z.string().nullable(),
    heartbeat_id: z.number().int().optional(),
    code: z.string().optional().describe('Why it was skipped or failed.'),
    reason: z.string().optional().describe('The same in words.'),
    warnings: z.array(z.string()).describe('What was left out or understood otherwise than it stands there.'),
  })
  .meta({ id: 'HeartbeatImportRow' });
export type HeartbeatImportRow = z.output<typeof rowSchema>;

export const heartbeatImportFormats = ['healthchecks', 'uptime_kuma'] as const;
export type HeartbeatImportFormat = (typeof heartbeatImportFormats)[number];

export const importHeartbeatsRoute = route({
  method: 'POST',
  path: '/api/v1/heartbeats/import',
  credentials: 'bearer',
  tag: 'Heartbeats',
  summary: 'Import checks of Healthchecks, and push monitors of Uptime Kuma',
  description:
    'The JSON of the list of checks of Healthchecks (`GET /api/v3/checks/`), or the JSON backup of Uptime Kuma 1.x, as the body or as the first file of a form. ' +
    'Checks keep their uuid and push monitors their token, so that of the addresses in use only the host changes. A bad check does not stop the others.',
  query: z.object({ workspace_id: idSchema, dry_run: booleanQuery(false) }),
  file: { types: ['application/json', 'multipart/form-data'], maxBytes: heartbeatImportLimits.bytes + 65_536 },
  success: {
    status: 200,
    answer: z
      .object({
        dry_run: z.boolean(),
        format: z.enum(heartbeatImportFormats),
        total: z.number().int(),
        created: z.number().int(),
        skipped: z.number().int(),
        failed: z.number().int(),
        rows: z.array(rowSchema),
      })
      .meta({ id: 'HeartbeatImport' }),
  },
  errors: [403, 404, 413, 415],
});
