import { isDeepStrictEqual } from 'node:util';
import { alertLimits, defaultAlertEvents } from '@parallax/api-contract';
import type {
  AlertEvent,
  AlertTargetInput,
  CreateAlert,
  InputError,
  InputErrorCode,
  InputPath,
  UpdateAlert,
} from '@parallax/api-contract';
import { refusedInput } from '../../../platform/http/input-errors.ts';
import { isZone } from '../../maintenance/index.ts';
import { givenTarget } from './targets.ts';
import type { OwnDefaults, PlacedTarget, StoredStep, StoredTarget } from './targets.ts';

/** Times of the week in which messages are held, as they are stored. */
export type StoredQuietHours = {
  readonly timezone: string;
  /** Days: 1 is Monday. */
  readonly windows: readonly { readonly days: readonly number[]; readonly start: string; readonly end: string }[];
  readonly except_severity: 'minor' | 'major' | 'critical' | null;
};

/** The fields of an alert beside its scope, as they are stored. */
export type AlertValues = {
  readonly name: string;
  readonly description: string;
  readonly is_active: boolean;
  readonly events: readonly AlertEvent[];
  readonly steps: readonly StoredStep[];
  readonly failover: StoredTarget | null;
  readonly notify_on_recovery: boolean;
  readonly min_duration_seconds: number;
  readonly reminder_interval_seconds: number | null;
  readonly quiet_hours: StoredQuietHours | null;
  /** Milliseconds since the epoch. */
  readonly muted_until: number | null;
};

/**
 * The fields of a new alert, with what was left out. Whether its targets can be is not judged here.
 * @param nowMs milliseconds since the epoch
 * @throws Problem `invalid_input` that names everything that cannot be
 */
export function createdValues(body: CreateAlert, own: OwnDefaults, nowMs: number): AlertValues {
  requireValid(body, nowMs);
  return {
    name: body.name,
    description: body.description ?? '',
    is_active: body.is_active,
    events: body.events ?? defaultAlertEvents,
    steps: stepsOf(body.steps, own),
    failover: body.failover == null ? null : givenTarget(body.failover, own),
    notify_on_recovery: body.notify_on_recovery,
    min_duration_seconds: body.min_duration_seconds ?? 0,
    reminder_interval_seconds: body.reminder_interval_seconds ?? null,
    quiet_hours: quietHoursOf(body.quiet_hours),
    muted_until: instantOf(body.muted_until),
  };
}

/**
 * What an update says otherwise than an alert that is there; `null` in it means the default.
 * @param nowMs milliseconds since the epoch
 * @throws Problem `invalid_input` that names everything that cannot be
 */
export function changedValues(
  before: AlertValues,
  body: UpdateAlert,
  own: OwnDefaults,
  nowMs: number,
): Partial<AlertValues> {
  requireValid(body, nowMs);
  const given: Partial<AlertValues> = {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.description === undefined ? {} : { description: body.description ?? '' }),
    ...(body.is_active === undefined ? {} : { is_active: body.is_active }),
    ...(body.events === undefined ? {} : { events: body.events ?? defaultAlertEvents }),
    ...(body.steps === undefined ? {} : { steps: stepsOf(body.steps, own) }),
    ...(body.failover === undefined
      ? {}
      : { failover: body.failover === null ? null : givenTarget(body.failover, own) }),
    ...(body.notify_on_recovery === undefined ? {} : { notify_on_recovery: body.notify_on_recovery }),
    ...(body.min_duration_seconds === undefined ? {} : { min_duration_seconds: body.min_duration_seconds ?? 0 }),
    ...(body.reminder_interval_seconds === undefined
      ? {}
      : { reminder_interval_seconds: body.reminder_interval_seconds }),
    ...(body.quiet_hours === undefined ? {} : { quiet_hours: quietHoursOf(body.quiet_hours) }),
    ...(body.muted_until === undefined ? {} : { muted_until: instantOf(body.muted_until) }),
  };
  return differing(before, given);
}

/** Of a change what an alert does not say already. */
export function differing(before: AlertValues, change: Partial<AlertValues>): Partial<AlertValues> {
  return Object.fromEntries(
    Object.entries(change).filter(([field, value]) => !isDeepStrictEqual(value, before[field as keyof AlertValues])),
  );
}

/** Fields in whose change those may be told who were not before. */
const widening: readonly (keyof AlertValues)[] = [
  'is_active',
  'events',
  'steps',
  'min_duration_seconds',
  'quiet_hours',
  'muted_until',
];

/** Whether a change may let an alert tell of what fails already. */
export function mayTellMore(change: Partial<AlertValues>, isActive: boolean): boolean {
  return isActive && widening.some((field) => field in change);
}

/**
 * Until when a snooze silences.
 * @param nowMs milliseconds since the epoch
 * @throws Problem `invalid_input` for a time that is past or more than a year ahead
 */
export function mutedUntil(
  body: { readonly minutes?: number | undefined; readonly until?: string | undefined },
  nowMs: number,
): number {
  if (body.minutes !== undefined) return nowMs + body.minutes * 60_000;
  const untilMs = Date.parse(body.until ?? '');
  const errors =
    untilMs <= nowMs ? [wrong('/until', 'too_early', 'must be in the future')] : mutedErrors(untilMs, '/until', nowMs);
  requireNone(errors);
  return untilMs;
}

/** The targets of steps and of the failover, with the place of each in a body. */
export function placedTargets(values: Pick<AlertValues, 'steps' | 'failover'>): readonly PlacedTarget[] {
  return [
    ...values.steps.flatMap((step, index) =>
      step.targets.map((target, place) => ({ path: `/steps/${index}/targets/${place}` as const, target })),
    ),
    ...(values.failover === null ? [] : [{ path: '/failover' as const, target: values.failover }]),
  ];
}

function stepsOf(given: CreateAlert['steps'], own: OwnDefaults): StoredStep[] {
  return given.map(({ after_seconds, targets }) => ({
    after_seconds,
    targets: targets.map((target) => givenTarget(target, own)),
  }));
}

function quietHoursOf(given: CreateAlert['quiet_hours']): StoredQuietHours | null {
  if (given == null) return null;
  const { timezone, windows, except_severity: except = 'critical' } = given;
  return { timezone, windows: windows.map(({ days, start, end }) => ({ days, start, end })), except_severity: except };
}

const instantOf = (text: string | null | undefined): number | null => (text == null ? null : Date.parse(text));

type Given = Pick<UpdateAlert, 'steps' | 'failover' | 'quiet_hours' | 'muted_until'>;

function requireValid(body: Given, nowMs: number): void {
  const zones = [
    ...(body.steps ?? []).flatMap((step, index) =>
      step.targets.map((target, place) => zoneError(target, `/steps/${index}/targets/${place}`)),
    ),
    body.failover == null ? undefined : zoneError(body.failover, '/failover'),
    body.quiet_hours == null ? undefined : zoneError(body.quiet_hours, '/quiet_hours'),
  ];
  const until = instantOf(body.muted_until);
  requireNone([
    ...zones.filter((error) => error !== undefined),
    ...(until === null ? [] : mutedErrors(until, '/muted_until', nowMs)),
  ]);
}

function zoneError({ timezone }: Pick<AlertTargetInput, 'timezone'>, path: InputPath): InputError | undefined {
  if (timezone == null || isZone(timezone)) return undefined;
  return wrong(`${path}/timezone`, 'timezone', `${timezone} is no time zone that is known here`);
}

function mutedErrors(untilMs: number, path: InputPath, nowMs: number): InputError[] {
  const isTooLate = untilMs > nowMs + alertLimits.mostMutedSeconds * 1_000;
  return isTooLate
    ? [wrong(path, 'too_late', 'must be at most a year ahead; to silence it for longer, turn it off')]
    : [];
}

const wrong = (path: InputPath, code: InputErrorCode, message: string): InputError => ({
  in: 'body',
  path,
  code,
  message,
});

/** @throws Problem `invalid_input` for any error at all */
export function requireNone(errors: readonly InputError[]): void {
  if (errors.length > 0) throw refusedInput(errors);
}
