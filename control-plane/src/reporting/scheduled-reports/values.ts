import { isDeepStrictEqual } from 'node:util';
import { invalidInput, Problem } from '@parallax/api-contract';
import type { CreateScheduledReport, UpdateScheduledReport } from '@parallax/api-contract';
import { isMailAddress } from '../../platform/mail/mail-address.ts';
import { isZone } from '../../response/maintenance/index.ts';
import type { Recipient, ReportRow } from './row.ts';

/** The plain fields of a report beside its scope, as they are stored. */
export type ReportValues = Pick<
  ReportRow,
  'name' | 'slo_target' | 'locale' | 'frequency' | 'timezone' | 'week_starts' | 'send_at' | 'formats' | 'compare'
>;

/** Of the account that makes a report. */
export type OwnDefaults = {
  readonly email: string | null;
  readonly locale: 'en' | 'ru';
  readonly timezone: string;
};

/** A recipient as it is stored. */
export type StoredRecipient = {
  /** Null: the owner's own address. */
  readonly address: string | null;
  readonly locale: 'en' | 'ru' | null;
};

/** The plain fields of a new report. @throws Problem `invalid_input` */
export function createdValues(body: CreateScheduledReport, own: OwnDefaults): ReportValues {
  const timezone = body.timezone ?? own.timezone;
  requireZone(timezone);
  return {
    name: body.name,
    slo_target: body.slo_target ?? null,
    locale: body.locale ?? own.locale,
    frequency: body.frequency,
    timezone,
    week_starts: body.week_starts,
    send_at: body.send_at,
    formats: body.formats,
    compare: body.compare,
  };
}

/** What a report becomes by an update, and which fields differ. @throws Problem `invalid_input` */
export function changedValues(
  row: ReportRow,
  body: UpdateScheduledReport,
): { readonly values: ReportValues; readonly fields: readonly string[] } {
  const values: ReportValues = {
    name: body.name ?? row.name,
    slo_target: body.slo_target === undefined ? row.slo_target : body.slo_target,
    locale: body.locale ?? row.locale,
    frequency: body.frequency ?? row.frequency,
    timezone: body.timezone ?? row.timezone,
    week_starts: body.week_starts ?? row.week_starts,
    send_at: body.send_at ?? row.send_at,
    formats: body.formats ?? row.formats,
    compare: body.compare ?? row.compare,
  };
  if (values.timezone !== row.timezone) requireZone(values.timezone);
  const { name, slo_target, locale, frequency, timezone, week_starts, send_at, formats, compare } = row;
  const before = { name, slo_target, locale, frequency, timezone, week_starts, send_at, formats, compare };
  const differing = new Map<string, unknown>(Object.entries(before));
  const fields = Object.entries(values).flatMap(([field, value]) =>
    isDeepStrictEqual(value, differing.get(field)) ? [] : [field],
  );
  return { values, fields };
}

/** Fields by which the next run is found. */
export const scheduleFields: readonly string[] = ['frequency', 'timezone', 'week_starts', 'send_at'];

function requireZone(timezone: string): void {
  if (isZone(timezone)) return;
  throw invalidInput('body', '/timezone', 'unknown_timezone', 'must be an IANA time zone such as Europe/Berlin');
}

/** Recipients as they are stored: in lower case, as addresses of accounts are, and the own address as such. @throws Problem `invalid_input` */
export function storedRecipients(
  given: NonNullable<CreateScheduledReport['recipients']>,
  ownAddress: string | null,
): readonly StoredRecipient[] {
  return given.map(({ address, locale }, index) => {
    const read = address.toLowerCase();
    if (!isMailAddress(read)) {
      throw invalidInput('body', `/recipients/${index}/address`, 'invalid_target', 'is not a mail address');
    }
    return { address: read === ownAddress ? null : read, locale: locale ?? null };
  });
}

/** Whether recipients that are given are those that stand there: languages that follow the report may be named as the answer shows them. */
export function sameRecipients(
  given: readonly StoredRecipient[],
  present: readonly Recipient[],
  report: { readonly locale: 'en' | 'ru'; readonly ownAddress: string | null },
): boolean {
  const plain = (address: string | null, locale: string | null) => `${address ?? ''} ${locale ?? report.locale}`;
  return isDeepStrictEqual(
    given.map(({ address, locale }) => plain(address, locale)),
    present.map(({ address, locale }) => plain(address === report.ownAddress ? null : address, locale)),
  );
}

/**
 * Requires that recipients are taken out only. Readers agree to mail of the owner of a report, in whose name they are asked.
 * @throws Problem `forbidden`
 */
export function requireNoneAdded(
  given: readonly StoredRecipient[],
  present: readonly Recipient[],
  ownAddress: string | null,
): void {
  const known = new Set(present.map(({ address }) => address));
  if (given.every(({ address }) => known.has(address ?? ownAddress ?? ''))) return;
  throw new Problem('forbidden', 'recipients are added by the owner of a report; make a report of your own');
}
