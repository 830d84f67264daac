import { heartbeatImportLimits, invalidInput } from '@parallax/api-contract';
import type { CreateHeartbeat, HeartbeatImportFormat } from '@parallax/api-contract';
import { createHeartbeatSchema } from '@parallax/api-contract';
import { z } from 'zod';
import { readJson } from '../../../platform/http/json-body.ts';
import { parseCron } from '../schedules/cron-expression.ts';
import { uuidIn } from '../signals/address.ts';

/** A check of a file as a heartbeat, or why it is none. */
export type ImportedCheck = {
  readonly name: string | null;
  readonly warnings: readonly string[];
} & (
  | {
      readonly kind: 'heartbeat';
      readonly body: CreateHeartbeat;
      readonly uuid: string | undefined;
      readonly pushToken: string | undefined;
      readonly isPaused: boolean;
    }
  | { readonly kind: 'skipped' | 'failed'; readonly code: string; readonly reason: string }
);

export type ImportedChecks = { readonly format: HeartbeatImportFormat; readonly checks: readonly ImportedCheck[] };

const text = z.string().max(10_000).nullish();
const number = z.number().nullish();

// Only what is used; whatever else an export holds is passed over.
const healthchecksCheck = z.object({
  name: text,
  slug: text,
  tags: text,
  desc: text,
  grace: number,
  timeout: number,
  schedule: text,
  tz: text,
  status: text,
  methods: text,
  manual_resume: z.boolean().nullish(),
  uuid: text,
  ping_url: text,
  filter_subject: z.boolean().nullish(),
  filter_body: z.boolean().nullish(),
  subject: text,
});

const kumaMonitor = z.object({
  type: z.string(),
  name: text,
  description: text,
  interval: number,
  maxretries: number,
  active: z.union([z.boolean(), z.number()]).nullish(),
  pushToken: text,
  tags: z.array(z.object({ name: z.string() })).nullish(),
});

const fileSchema = z.union([
  z.object({ checks: z.array(z.unknown()) }),
  z.object({ monitorList: z.array(z.unknown()) }),
]);

/**
 * Reads the JSON of a list of checks of Healthchecks (its management API, versions 1 to 3), or a backup of Uptime Kuma 1.x, of which only push monitors are
 * heartbeats.
 * @throws Problem `invalid_json` or `invalid_input` when it is neither
 */
export function readChecks(bytes: Uint8Array): ImportedChecks {
  const parsed = fileSchema.safeParse(readJson(bytes));
  if (!parsed.success) {
    throw invalidInput(
      'body',
      '',
      'format',
      'the file has neither "checks" of Healthchecks nor "monitorList" of Uptime Kuma',
    );
  }
  const isKuma = 'monitorList' in parsed.data;
  const rows: readonly unknown[] = 'checks' in parsed.data ? parsed.data.checks : parsed.data.monitorList;
  if (rows.length > heartbeatImportLimits.rows) {
    throw invalidInput(
      'body',
      '',
      'too_many_rows',
      `a file has at most ${heartbeatImportLimits.rows} checks, this has ${rows.length}`,
    );
  }
  return {
    format: isKuma ? 'uptime_kuma' : 'healthchecks',
    checks: rows.map((row) => (isKuma ? ofKuma(row) : ofHealthchecks(row))),
  };
}

function ofHealthchecks(row: unknown): ImportedCheck {
  const parsed = healthchecksCheck.safeParse(row);
  if (!parsed.success) return { ...notReadable, name: nameIn(row) };
  const check = parsed.data;
  const warnings: string[] = [];
  // What is read with a read-only key lacks the uuid.
  const uuid = uuidIn(check.uuid ?? '') ?? uuidIn(check.ping_url?.split('/').at(-1) ?? '');
  if (uuid === undefined)
    warnings.push('there is no uuid in the file, so it gets a new one: clients need the new address');
  const isFiltered = check.filter_subject === true || check.filter_body === true || (check.subject ?? '') !== '';
  if (isFiltered) warnings.push('filters by keywords were left out');
  const graceSeconds = bounded(check.grace ?? 3_600, 0, 31_536_000, 'the grace period', warnings);
  return heartbeat(
    check.name ?? '',
    {
      name: check.name || check.slug || 'imported',
      description: check.desc ?? '',
      tags: tagsOf((check.tags ?? '').split(/\s+/), warnings),
      ...(check.slug ? { slug: check.slug } : {}),
      ...scheduleOfCheck(check),
      ...(check.timeout == null
        ? {}
        : { expected_interval_seconds: bounded(check.timeout, 1, 31_536_000, 'the period', warnings) }),
      grace_period_seconds: graceSeconds,
      // There a run that has started may take as long as the grace period.
      max_runtime_seconds: Math.min(2_592_000, Math.max(1, graceSeconds)),
      // Signals by slug need no secret there.
      require_secret: false,
      resume_on_ping: check.manual_resume !== true,
      methods: check.methods === 'POST' ? 'post' : 'any',
    },
    { uuid, pushToken: undefined, isPaused: check.status === 'paused' },
    warnings,
  );
}

/** A schedule is either kind there, and what it is must be tried. */
function scheduleOfCheck({ schedule, tz }: z.output<typeof healthchecksCheck>) {
  if (!schedule) return {};
  const zone = tz ? { timezone: tz } : { timezone: 'UTC' };
  try {
    parseCron(schedule);
    return { schedule_type: 'cron', schedule, ...zone };
  } catch {
    return { schedule_type: 'on_calendar', schedule, ...zone };
  }
}

function ofKuma(row: unknown): ImportedCheck {
  const parsed = kumaMonitor.safeParse(row);
  if (!parsed.success) return { ...notReadable, name: nameIn(row) };
  const monitor = parsed.data;
  const name = monitor.name ?? null;
  if (monitor.type !== 'push') {
    const reason = `a monitor of the type "${monitor.type.slice(0, 50)}" is no heartbeat; import it as a monitor`;
    return { kind: 'skipped', code: 'no_heartbeat', reason, name, warnings: [] };
  }
  const warnings: string[] = [];
  const seconds = bounded(monitor.interval ?? 60, 1, 31_536_000, 'the interval', warnings);
  const token = /^[A-Za-z0-9_-]{8,128}$/.test(monitor.pushToken ?? '') ? (monitor.pushToken ?? undefined) : undefined;
  if (token === undefined) warnings.push('there is no push token in the file: clients need the new address');
  return heartbeat(
    name ?? '',
    {
      name: name || 'imported',
      description: monitor.description ?? '',
      tags: tagsOf(
        (monitor.tags ?? []).map((tag) => tag.name),
        warnings,
      ),
      expected_interval_seconds: seconds,
      // It is down there as soon as the interval is over.
      grace_period_seconds: 0,
      failures_before_alert: Math.min(100, Math.max(1, Math.floor(monitor.maxretries ?? 0) + 1)),
    },
    { uuid: undefined, pushToken: token, isPaused: monitor.active === false || monitor.active === 0 },
    warnings,
  );
}

function heartbeat(
  name: string,
  fields: Readonly<Record<string, unknown>>,
  more: { readonly uuid: string | undefined; readonly pushToken: string | undefined; readonly isPaused: boolean },
  warnings: readonly string[],
): ImportedCheck {
  const parsed = createHeartbeatSchema.safeParse(fields);
  if (parsed.success) return { kind: 'heartbeat', name: parsed.data.name, body: parsed.data, warnings, ...more };
  const issue = parsed.error.issues[0];
  const reason = `${String(issue?.path[0] ?? '')}: ${issue?.message ?? 'not valid'}`;
  return { kind: 'failed', code: 'invalid_input', reason, name: name.slice(0, 200) || null, warnings };
}

const notReadable = {
  kind: 'failed',
  code: 'unreadable',
  reason: 'the fields are not those of an export',
  warnings: [],
} as const;

function nameIn(row: unknown): string | null {
  const name = typeof row === 'object' && row !== null && 'name' in row ? row.name : null;
  return typeof name === 'string' ? name.slice(0, 200) : null;
}

function tagsOf(given: readonly string[], warnings: string[]): string[] {
  const tags = given.filter((tag) => tag !== '');
  const kept = tags.filter((tag) => tag.length <= 50).slice(0, 20);
  if (kept.length < tags.length)
    warnings.push('of the tags those beyond 20, and those of more than 50 characters, were left out');
  return kept;
}

function bounded(value: number, least: number, most: number, what: string, warnings: string[]): number {
  const within = Math.round(Math.min(most, Math.max(least, value)));
  if (within !== value) warnings.push(`${what} of ${value} s became ${within} s`);
  return within;
}
