import { z } from 'zod';
import { alertScopeSchema, alertSchema } from './alert-shapes.ts';
import { bodyId, hasControlCharacter, instant, localeInput, nameSchema, orDefault, timestamp } from './shared.ts';

/** Bounds of scheduled reports. */
export const scheduledReportLimits = {
  ofWorkspace: 100,
  recipients: 20,
  /** Subjects of one report. Of a scope that covers more, the first by name are in it, and the report says so. */
  subjects: 500,
  /** Subjects with a chapter of their own in the PDF: the worst. */
  chapters: 50,
  /** Of one file. */
  fileBytes: 5 * 1_024 * 1_024,
  /** A missed period is made up for so long. */
  lateDays: 7,
  runDays: 400,
  fileDays: 180,
} as const;

export const reportFrequencies = ['daily', 'weekly', 'monthly', 'quarterly'] as const;
export type ReportFrequency = (typeof reportFrequencies)[number];
export const reportFormats = ['pdf', 'csv'] as const;
export type ReportFormat = (typeof reportFormats)[number];
export const reportStatuses = ['active', 'paused'] as const;
export const reportDisabledReasons = ['owner_left', 'scope_empty'] as const;
export const recipientStates = ['active', 'asked', 'unsubscribed'] as const;
export type RecipientState = (typeof recipientStates)[number];
export const runTriggers = ['schedule', 'manual'] as const;
export const runStatuses = ['queued', 'running', 'sent', 'partly_sent', 'failed', 'skipped', 'late'] as const;
export type RunStatus = (typeof runStatuses)[number];
const locales = ['en', 'ru'] as const;

const recipientInput = z
  .strictObject({
    address: z
      .string()
      .trim()
      .min(1)
      .max(254)
      .refine((text) => !hasControlCharacter(text), 'must not contain control characters'),
    locale: localeInput.nullish().describe('Language of the mail. Default: that of the report.'),
    state: z.enum(recipientStates).optional().describe('What an answer shows; not read.'),
  })
  .meta({ id: 'ReportRecipientInput' });

const fields = {
  sloTarget: z
    .number()
    .min(90)
    .max(100)
    .describe('Per cent. With it the report says of each monitor whether it met the objective. `null`: none.'),
  frequency: z
    .enum(reportFrequencies)
    .describe('Which calendar periods of `timezone` are reported on; each is sent on the day after it has closed.'),
  timezone: z
    .string()
    .min(1)
    .max(100)
    .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
    .describe('An IANA name, such as `Europe/Berlin`.'),
  weekStarts: z.union([z.literal(1), z.literal(7)]).describe('1: weeks begin on Monday; 7: on Sunday.'),
  sendAt: z
    .string()
    .regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 'must be a time such as 08:00')
    .describe('Wall clock of `timezone`. A time that the clock leaps over comes later by the length of the gap.'),
  recipients: z
    .array(recipientInput)
    .max(scheduledReportLimits.recipients)
    .superRefine((list, context) => {
      const seen = new Set<string>();
      for (const [index, { address }] of list.entries()) {
        const key = address.toLowerCase();
        if (seen.has(key)) {
          context.addIssue({ code: 'custom', path: [index, 'address'], message: 'is named twice' });
        }
        seen.add(key);
      }
    })
    .describe(
      'The readers of addresses that are not your own are asked by mail first. None: the report is made and can be downloaded.',
    ),
  formats: z
    .array(z.enum(reportFormats))
    .min(1)
    .max(2)
    .overwrite((given) => [...new Set(given)])
    .describe('Files that are attached and kept.'),
  compare: z.boolean().describe('Shows the period before beside the figures.'),
  locale: localeInput.describe('Language of the files, and of mails to recipients who name none.'),
};

/** Body of POST /scheduled-reports. */
export const createScheduledReportSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema,
    scope: alertScopeSchema.optional().describe('Default: everything of the workspace.'),
    slo_target: fields.sloTarget.nullish(),
    locale: fields.locale.optional().describe('Default: your own.'),
    frequency: fields.frequency.default('weekly'),
    timezone: fields.timezone.optional().describe('Default: your own.'),
    week_starts: fields.weekStarts.default(1),
    send_at: fields.sendAt.default('08:00'),
    recipients: fields.recipients.optional().describe('Default: your own address.'),
    formats: fields.formats.default(['pdf']),
    compare: fields.compare.default(true),
  })
  .meta({ id: 'CreateScheduledReport' });
export type CreateScheduledReport = z.output<typeof createScheduledReportSchema>;

/** Body of PUT /scheduled-reports/{id}: an absent key keeps, `null` goes back to the default. */
export const updateScheduledReportSchema = z
  .strictObject({
    name: nameSchema.optional(),
    scope: alertScopeSchema.optional(),
    slo_target: fields.sloTarget.nullish(),
    locale: fields.locale.optional(),
    frequency: orDefault(fields.frequency, 'weekly'),
    timezone: fields.timezone.optional(),
    week_starts: orDefault(fields.weekStarts, 1),
    send_at: orDefault(fields.sendAt, '08:00'),
    recipients: fields.recipients.optional(),
    formats: orDefault(fields.formats, ['pdf']),
    compare: orDefault(fields.compare, true),
  })
  .meta({ id: 'UpdateScheduledReport' });
export type UpdateScheduledReport = z.output<typeof updateScheduledReportSchema>;

const recipientSchema = z
  .object({
    address: z.string().describe('Viewers see it masked.'),
    locale: z.enum(locales),
    state: z
      .enum(recipientStates)
      .describe(
        '`asked`: its reader has not agreed yet, or could not be asked yet. `unsubscribed`: its reader has ended this report or all mail of its owner.',
      ),
  })
  .meta({ id: 'ReportRecipient' });

/** A scheduled report as every route answers it. */
export const scheduledReportSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    owner_id: z.number().int().nullable().describe('On whose behalf it is sent; `null`: the account is gone.'),
    name: z.string(),
    status: z.enum(reportStatuses),
    disabled_reason: z
      .enum(reportDisabledReasons)
      .nullable()
      .describe(
        '`owner_left`: its owner is no member any more; an editor who changes or resumes it takes it over. `scope_empty`: all that its scope named is gone. `null`: nothing hinders it.',
      ),
    next_run_at: timestamp.nullable().describe('`null` while it is paused or disabled.'),
    scope: alertSchema.shape.scope,
    slo_target: z.number().nullable(),
    locale: z.enum(locales),
    frequency: z.enum(reportFrequencies),
    timezone: z.string(),
    week_starts: z.number().int(),
    send_at: z.string(),
    recipients: z.array(recipientSchema),
    formats: z.array(z.enum(reportFormats)),
    compare: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
    version: z.number().int().describe('The ETag.'),
  })
  .meta({ id: 'ScheduledReport' });
export type ScheduledReport = z.output<typeof scheduledReportSchema>;

/** Body of POST /scheduled-reports/{id}/run. */
export const runScheduledReportSchema = z
  .strictObject({
    from: instant.optional().describe('Inclusive. Default: the last closed period.'),
    to: instant.optional().describe('Exclusive, beside `from`. Default: now. At most 400 days after `from`.'),
    deliver: z.boolean().default(true).describe('`false`: the files are made and nobody is sent a mail.'),
  })
  .optional()
  .meta({ id: 'RunScheduledReport' });
export type RunScheduledReport = z.output<typeof runScheduledReportSchema>;

/** One run of a report. */
export const scheduledReportRunSchema = z
  .object({
    id: z.number().int(),
    from: timestamp,
    to: timestamp,
    trigger: z.enum(runTriggers),
    status: z
      .enum(runStatuses)
      .describe(
        '`sent`: made, and every mail was handed over. `late`: so, but more than an hour after its time. `partly_sent`: not every reader has agreed. `skipped`: its time passed more than 7 days ago, or the report was disabled.',
      ),
    recipients: z.array(
      z.object({ address: z.string().describe('Viewers see it masked.'), state: z.enum(recipientStates) }),
    ),
    files: z.array(z.enum(reportFormats)).describe('Those that can be downloaded. Kept for 180 days.'),
    error: z.string().nullable(),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'ScheduledReportRun' });
export type ScheduledReportRun = z.output<typeof scheduledReportRunSchema>;
