import { maintenanceSubjectTypes, reportFormats, reportFrequencies } from '@parallax/api-contract';
import type { RecipientState, ScheduledReport } from '@parallax/api-contract';
import { z } from 'zod';
import { maskedAddress } from '../../platform/mail/mail-address.ts';
import { isEmptyScope } from '../../response/maintenance/index.ts';
import type { Covered } from '../../response/maintenance/index.ts';
import type { Schedule } from './periods.ts';

/** A report with its scope, as it is read. Times are milliseconds since the epoch. */
export const reportRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  owner_id: z.number().nullable(),
  /** Its owner is a member of the workspace. */
  has_owner: z.boolean(),
  name: z.string(),
  is_paused: z.boolean(),
  next_run_at: z.number().nullable(),
  covers_all: z.boolean(),
  tags: z.array(z.string()),
  subjects: z.array(z.object({ type: z.enum(maintenanceSubjectTypes), id: z.number() })),
  group_ids: z.array(z.number()),
  slo_target: z.number().nullable(),
  locale: z.enum(['en', 'ru']),
  frequency: z.enum(reportFrequencies),
  timezone: z.string(),
  week_starts: z.number(),
  send_at: z.string(),
  formats: z.array(z.enum(reportFormats)),
  compare: z.boolean(),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
});
export type ReportRow = z.output<typeof reportRow>;

/** A recipient as it stands at present. */
export type Recipient = {
  readonly id: number;
  readonly address: string;
  /** Null: that of the report. */
  readonly locale: 'en' | 'ru' | null;
  readonly state: RecipientState;
};

/** What a report covers, as it is stored. */
export function coveredOf(row: ReportRow): Covered {
  const idsOf = (type: ReportRow['subjects'][number]['type']) =>
    row.subjects.filter((subject) => subject.type === type).map(({ id }) => id);
  return {
    all: row.covers_all,
    monitorIds: idsOf('monitor'),
    heartbeatIds: idsOf('heartbeat'),
    webhookCheckIds: idsOf('webhook_check'),
    groupIds: row.group_ids,
    tags: row.tags,
  };
}

/** When a report is made. */
export function scheduleOf(row: Pick<ReportRow, 'frequency' | 'timezone' | 'week_starts' | 'send_at'>): Schedule {
  return { frequency: row.frequency, timezone: row.timezone, weekStarts: row.week_starts, sendAt: row.send_at };
}

/** Why a report is not made; null: nothing hinders it. */
export function disabledReason(row: ReportRow): ScheduledReport['disabled_reason'] {
  if (!row.has_owner) return 'owner_left';
  return isEmptyScope(coveredOf(row)) ? 'scope_empty' : null;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** A report as the API answers it. @param isMasked whether addresses are shown in part only */
export function answerOf(row: ReportRow, recipients: readonly Recipient[], isMasked: boolean): ScheduledReport {
  const reason = disabledReason(row);
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    owner_id: row.owner_id,
    name: row.name,
    status: row.is_paused ? 'paused' : 'active',
    disabled_reason: reason,
    next_run_at: reason !== null || row.next_run_at === null ? null : iso(row.next_run_at),
    scope: { all: row.covers_all, subjects: row.subjects, group_ids: row.group_ids, tags: row.tags },
    slo_target: row.slo_target,
    locale: row.locale,
    frequency: row.frequency,
    timezone: row.timezone,
    week_starts: row.week_starts,
    send_at: row.send_at,
    recipients: recipients.map(({ address, locale, state }) => ({
      address: isMasked ? maskedAddress(address) : address,
      locale: locale ?? row.locale,
      state,
    })),
    formats: row.formats,
    compare: row.compare,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    version: row.version,
  };
}
