import { z } from 'zod';
import { route } from './route.ts';
import { booleanParameter, booleanQuery, idSchema } from './shared.ts';

const tag = 'Monitors';

/** Rows of one file and bytes of it; the specification has both. */
export const importLimits = { rows: 500, bytes: 1_048_576 } as const;
/** What a form puts around a file. */
const formOverheadBytes = 65_536;

/** Whose files are read. `generic` is any list with a column of targets. */
export const importFormats = [
  'parallax',
  'uptime_robot',
  'better_stack',
  'statuscake',
  'pingdom',
  'uptime_kuma',
  'generic',
] as const;
export type ImportFormat = (typeof importFormats)[number];

const importDifferenceSchema = z
  .object({
    field: z.string().describe('Name of the field; of a setting of the protocol `settings.<name>`.'),
    existing: z.unknown().describe('Null where it is not set.'),
    imported: z.unknown().describe('Null where it is not set.'),
  })
  .meta({ id: 'ImportDifference' });

const importRowSchema = z
  .object({
    row: z.number().int().describe('The first row below the header is 1; of a JSON file the first monitor.'),
    status: z.enum(['created', 'skipped', 'failed']).describe('With `dry_run` what it would be.'),
    name: z.string().nullable(),
    url: z.string().nullable(),
    workspace_id: z.number().int().nullable(),
    monitor_id: z
      .number()
      .int()
      .optional()
      .describe('Of the new monitor, or of the one that the row is a duplicate of.'),
    code: z.string().optional().describe('Why it was skipped or failed.'),
    reason: z.string().optional().describe('The same in words.'),
    warnings: z.array(z.string()).describe('What was understood otherwise than it stands there, or left out.'),
    fields: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('With `dry_run`: the monitor that would be created. Of secrets only `has_<name>`.'),
    differences: z
      .array(importDifferenceSchema)
      .optional()
      .describe('With `dry_run`, of a duplicate: how the row differs from the monitor that is there.'),
  })
  .meta({ id: 'ImportRow' });
export type ImportRow = z.output<typeof importRowSchema>;

export const monitorImportSchema = z
  .object({
    dry_run: z.boolean(),
    format: z.enum(importFormats),
    total: z.number().int(),
    created: z.number().int(),
    skipped: z.number().int(),
    failed: z.number().int(),
    rows: z.array(importRowSchema).describe('In the order of the file.'),
  })
  .meta({ id: 'MonitorImport' });
export type MonitorImport = z.output<typeof monitorImportSchema>;

export const exportMonitorsRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/export/csv',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Monitors as CSV',
  description:
    'Every field that is not secret; for secrets `has_<name>`. RFC 4180 in UTF-8 with a byte order mark. A text cell that a spreadsheet would take ' +
    'for a formula begins with an apostrophe, which an import takes away again.',
  query: z.object({
    workspace_id: idSchema.optional().describe('Left out: all workspaces of the caller.'),
    is_active: booleanParameter.optional(),
  }),
  success: {
    status: 200,
    answer: z.string(),
    contentType: 'text/csv; charset=utf-8; header=present',
    headers: ['Content-Disposition'],
  },
  errors: [404],
});

export const importMonitorsRoute = route({
  method: 'POST',
  path: '/api/v1/monitors/import/csv',
  credentials: 'key-or-bearer',
  tag,
  summary: 'Create monitors from a file',
  description:
    'A form with the file in the field `file`, or the file itself. CSV in UTF-8 with `,` or `;`, at most 500 rows and 1 MiB: an own export, an export of ' +
    'UptimeRobot, Better Stack, StatusCake or Pingdom, or any list with a column `url`; also the JSON backup of Uptime Kuma 1.x. Each row is reported: a bad ' +
    'one does not stop the others. Monitors whose secrets are not in the file are created paused. Sent again, all rows are skipped.',
  query: z.object({
    workspace_id: idSchema
      .optional()
      .describe(
        'Where every row goes. Left out: the workspace that the column `workspace` names, else the default workspace of the caller.',
      ),
    dry_run: booleanQuery(false).describe('Create nothing and answer what would be done.'),
    on_duplicate: z
      .enum(['skip', 'create'])
      .default('skip')
      .describe('What becomes of a row whose URL and protocol the workspace had before.'),
  }),
  file: {
    types: ['multipart/form-data', 'text/csv', 'application/json'],
    maxBytes: importLimits.bytes + formOverheadBytes,
  },
  success: { status: 200, answer: monitorImportSchema },
  errors: [403, 404, 413, 415],
});
