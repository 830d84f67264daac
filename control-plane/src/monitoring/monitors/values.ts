import { groupProtocol, invalidInput, Problem } from '@parallax/api-contract';
import type { CreateMonitor, MonitorProtocol, UpdateMonitor } from '@parallax/api-contract';
import { isProtocol } from '@parallax/checks';
import { addressUnconfirmed } from '../../identity/unconfirmed/index.ts';
import { requiredCapabilities } from '../assignments/index.ts';
import { groupTarget, isMonitorProtocol } from './kinds.ts';
import type { MonitorRow, MonitorValues } from './queries.ts';
import { composeSettings, requireTarget, sameJson, settingsInput, sharesSettings } from './settings.ts';
import type { SettingsInput, SplitSettings } from './settings.ts';
import { movesDestination, noUrl, protocolOf } from './target.ts';

/** What is stored of a monitor, its secrets open: they are sealed where it is written. */
export type PlainValues = Omit<MonitorValues, 'settings' | 'secret_fields' | 'sealed_secrets'> & {
  readonly settings: SplitSettings;
};

/** What the plan of the workspace's owner rules. */
export type PlanLimits = {
  readonly plan: string;
  readonly minimumIntervalSeconds: number;
  /** What an owner's unconfirmed address allows; 0: it does not rule. */
  readonly unconfirmedIntervalSeconds: number;
};

const defaults = {
  confirmations: 2,
  consensusPolicy: 'majority',
  certificateThresholds: [30, 14, 7, 3, 1],
  domainThresholds: [30, 14, 7, 1],
} as const;

const defaultTimeoutS = (intervalS: number): number => Math.min(10, intervalS);

/** A stored monitor with its secret settings, opened. */
export type OpenMonitor = { readonly stored: MonitorRow; readonly secrets: Readonly<Record<string, unknown>> };

/**
 * A new monitor from its body.
 * @param name the body's, or one made from the target
 * @param edited a stored monitor that the body is an edition of: secrets that it leaves out are that one's, unless the destination is another
 * @throws Problem `interval_below_plan` or `invalid_input`
 */
export function newMonitor(
  body: Omit<CreateMonitor, 'workspace_id'>,
  name: string,
  limits: PlanLimits,
  edited?: OpenMonitor,
): PlainValues {
  requireInterval(body.interval_seconds, limits);
  requireOneChoice(body.probe_ids, body.regions);
  const protocol = protocolOf(body.url, body.protocol);
  requirePlace(protocol, body.url, body.probe_ids, body.regions);
  const input = settingsInput(body, protocol === 'dnsbl' ? orUndefined(body.dnsbl_servers) : undefined);
  const settings =
    edited === undefined
      ? composeSettings(protocol, {}, input)
      : withKeptSecrets(plainValues(edited.stored, edited.secrets), { protocol, url: body.url }, {}, input);
  requireTarget(protocol, body.url, settings);
  return {
    name,
    url: urlOf(protocol, body.url, settings),
    protocol,
    settings,
    description: body.description ?? '',
    interval_seconds: body.interval_seconds,
    timeout_seconds: body.timeout_seconds ?? defaultTimeoutS(body.interval_seconds),
    confirmations: body.confirmations ?? defaultConfirmations(protocol),
    consensus_policy: body.consensus_policy ?? defaults.consensusPolicy,
    degraded_threshold_ms: body.degraded_threshold_ms ?? null,
    tags: body.tags ?? [],
    wanted_probe_ids: orNull(body.probe_ids),
    wanted_regions: orNull(body.regions),
    dnsbl_servers: body.dnsbl_servers ?? [],
    certificate_thresholds_days: body.certificate_thresholds_days ?? [...defaults.certificateThresholds],
    domain_thresholds_days: body.domain_thresholds_days ?? [...defaults.domainThresholds],
    is_active: body.is_active,
  };
}

/** A change of a monitor, with what has to follow from it. */
export type MonitorChange = {
  readonly values: PlainValues;
  /** False when the body says nothing new: no version is spent. */
  readonly isChange: boolean;
  /** Another thing is checked: results of the old revision do not vote (rule 15 of consensus). */
  readonly checkedChanged: boolean;
  /** Its probes have to be chosen again. */
  readonly choosesProbes: boolean;
  /** Its probes have to be told. */
  readonly tellsProbes: boolean;
};

/**
 * What a PATCH makes of a stored monitor. Absent keeps, null goes back to the default. Secrets do not follow the monitor to
 * another destination: they are dropped unless sent again.
 * @param secrets the stored secret settings, opened
 * @throws Problem `interval_below_plan` or `invalid_input`
 */
export function changedMonitor(
  stored: MonitorRow,
  secrets: Readonly<Record<string, unknown>>,
  body: UpdateMonitor,
  limits: PlanLimits,
): MonitorChange {
  if (body.interval_seconds !== undefined && body.interval_seconds !== stored.interval_seconds) {
    requireInterval(body.interval_seconds, limits);
  }
  const before = plainValues(stored, secrets);
  const url = body.url ?? stored.url;
  const protocol = changedProtocol(stored, body, url);
  requirePlace(protocol, url, body.probe_ids, body.regions);
  const settings = changedSettings(before, { protocol, url }, body);
  requireTarget(protocol, url, settings);
  const interval = body.interval_seconds ?? stored.interval_seconds;
  const isGroup = protocol === groupProtocol;
  const values: PlainValues = {
    name: body.name ?? stored.name,
    url: urlOf(protocol, url, settings),
    protocol,
    settings,
    description: or(body.description, stored.description, ''),
    interval_seconds: interval,
    timeout_seconds: or(body.timeout_seconds, stored.timeout_seconds, defaultTimeoutS(interval)),
    confirmations: or(body.confirmations, stored.confirmations, defaultConfirmations(protocol)),
    consensus_policy: or(body.consensus_policy, stored.consensus_policy, defaults.consensusPolicy),
    degraded_threshold_ms: or(body.degraded_threshold_ms, stored.degraded_threshold_ms, null),
    tags: or(body.tags, stored.tags, []),
    wanted_probe_ids: isGroup ? null : orNull(or(body.probe_ids, stored.wanted_probe_ids, null)),
    wanted_regions: isGroup ? null : orNull(or(body.regions, stored.wanted_regions, null)),
    dnsbl_servers: or(body.dnsbl_servers, stored.dnsbl_servers, []),
    certificate_thresholds_days: or(body.certificate_thresholds_days, stored.certificate_thresholds_days, [
      ...defaults.certificateThresholds,
    ]),
    domain_thresholds_days: or(body.domain_thresholds_days, stored.domain_thresholds_days, [
      ...defaults.domainThresholds,
    ]),
    // The switch has its own verb, which a PATCH with this key also calls.
    is_active: stored.is_active,
  };
  requireOneChoice(values.wanted_probe_ids, values.wanted_regions);
  const differs = (...names: (keyof PlainValues)[]): boolean =>
    names.some((name) => !sameJson(before[name], values[name]));
  const checkedChanged = differs('url', 'protocol', 'settings', 'dnsbl_servers');
  const needs = (all: PlainValues) => requiredCapabilities(all.protocol, all.url, all.settings.open);
  const choosesProbes =
    differs('protocol', 'settings', 'wanted_probe_ids', 'wanted_regions') || !sameJson(needs(before), needs(values));
  return {
    values,
    isChange: !sameJson(before, values),
    checkedChanged,
    choosesProbes,
    tellsProbes:
      checkedChanged || differs('interval_seconds', 'timeout_seconds', 'confirmations', 'degraded_threshold_ms'),
  };
}

function plainValues(stored: MonitorRow, secrets: Readonly<Record<string, unknown>>): PlainValues {
  return {
    name: stored.name,
    url: stored.url,
    protocol: stored.protocol,
    settings: { open: stored.settings, secret: secrets },
    description: stored.description,
    interval_seconds: stored.interval_seconds,
    timeout_seconds: stored.timeout_seconds,
    confirmations: stored.confirmations,
    consensus_policy: stored.consensus_policy,
    degraded_threshold_ms: stored.degraded_threshold_ms,
    tags: stored.tags,
    wanted_probe_ids: stored.wanted_probe_ids,
    wanted_regions: stored.wanted_regions,
    dnsbl_servers: stored.dnsbl_servers,
    certificate_thresholds_days: stored.certificate_thresholds_days,
    domain_thresholds_days: stored.domain_thresholds_days,
    is_active: stored.is_active,
  };
}

/** A new URL with another scheme brings its protocol along unless one is named; a stored protocol that no build knows must be named anew. */
function changedProtocol(stored: MonitorRow, body: UpdateMonitor, url: string): MonitorProtocol {
  if (body.protocol !== undefined) return body.protocol;
  const kept = isMonitorProtocol(stored.protocol) ? stored.protocol : undefined;
  if (body.url === undefined || kept === undefined) return protocolOf(url, kept);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  const isWebPair = (kept === 'http' || kept === 'https') && (scheme === 'http' || scheme === 'https');
  return isWebPair && isProtocol(scheme) ? scheme : kept;
}

function changedSettings(
  before: PlainValues,
  target: { readonly protocol: MonitorProtocol; readonly url: string },
  body: UpdateMonitor,
): SplitSettings {
  const keeps = isMonitorProtocol(before.protocol) && sharesSettings(before.protocol, target.protocol);
  const lists = target.protocol === 'dnsbl' ? wantedLists(before, body) : undefined;
  return withKeptSecrets(before, target, keeps ? before.settings.open : {}, settingsInput(body, lists));
}

/**
 * Settings for a target, with the secrets that are stored for `before` where they go to the same destination. That is judged by the settings
 * as they will be, since a relay among them moves the destination as well.
 * @param base what is not secret and is to be built on
 */
function withKeptSecrets(
  before: PlainValues,
  target: { readonly protocol: MonitorProtocol; readonly url: string },
  base: Readonly<Record<string, unknown>>,
  input: SettingsInput,
): SplitSettings {
  const keeps = isMonitorProtocol(before.protocol) && sharesSettings(before.protocol, target.protocol);
  const bare = attempt(() => composeSettings(target.protocol, base, input));
  if (!keeps || Object.keys(before.settings.secret).length === 0) return resultOf(bare);
  const whole = attempt(() => composeSettings(target.protocol, { ...base, ...before.settings.secret }, input));
  // Some are no good without their secret, such as a certificate without its key, and can be judged with it only.
  const judged = bare.ok ? bare : whole;
  const moves =
    judged.ok &&
    movesDestination(
      { protocol: before.protocol, url: before.url, settings: before.settings.open },
      { ...target, settings: judged.result.open },
    );
  return resultOf(moves ? bare : whole);
}

type Attempt = { readonly ok: true; readonly result: SplitSettings } | { readonly ok: false; readonly error: unknown };

function attempt(compose: () => SplitSettings): Attempt {
  try {
    return { ok: true, result: compose() };
  } catch (error) {
    return { ok: false, error };
  }
}

function resultOf(attempted: Attempt): SplitSettings {
  if (attempted.ok) return attempted.result;
  throw attempted.error;
}

/** Members have confirmed their failures themselves: one look is enough. */
function defaultConfirmations(protocol: MonitorProtocol): number {
  return protocol === groupProtocol ? 1 : defaults.confirmations;
}

function urlOf(protocol: MonitorProtocol, url: string, settings: SplitSettings): string {
  return protocol === groupProtocol ? groupTarget(settings.open) : url;
}

/** Where a check goes, and who makes it: a group monitor has neither, all others have the first. */
function requirePlace(
  protocol: MonitorProtocol,
  url: string,
  probeIds: readonly number[] | null | undefined,
  regions: readonly string[] | null | undefined,
): void {
  if (protocol !== groupProtocol) {
    if (url === '') throw noUrl();
    return;
  }
  const given = (probeIds?.length ?? 0) > 0 ? 'probe_ids' : (regions?.length ?? 0) > 0 ? 'regions' : undefined;
  if (given === undefined) return;
  throw invalidInput(
    'body',
    `/${given}`,
    'no_probes',
    `no probe checks a monitor of the protocol group; leave out ${given}`,
  );
}

function requireInterval(intervalS: number, limits: PlanLimits): void {
  if (intervalS < limits.minimumIntervalSeconds) throw belowPlan(intervalS, limits);
  const least = limits.unconfirmedIntervalSeconds;
  if (intervalS >= least) return;
  const message = `interval_seconds is ${intervalS}; the shortest interval is ${least} seconds until the owner of the workspace has confirmed their mail address`;
  throw addressUnconfirmed(message, [{ in: 'body', path: '/interval_seconds', code: 'interval_below_plan', message }]);
}

function belowPlan(intervalS: number, limits: PlanLimits): Problem {
  const message = `interval_seconds is ${intervalS}; the shortest interval of the plan "${limits.plan}" of the workspace's owner is ${limits.minimumIntervalSeconds} seconds`;
  return new Problem('interval_below_plan', message, {
    errors: [{ in: 'body', path: '/interval_seconds', code: 'interval_below_plan', message }],
  });
}

function requireOneChoice(
  probeIds: readonly number[] | null | undefined,
  regions: readonly string[] | null | undefined,
): void {
  if ((probeIds?.length ?? 0) === 0 || (regions?.length ?? 0) === 0) return;
  throw invalidInput(
    'body',
    '/regions',
    'given_twice',
    'give probe_ids or regions, not both; null clears the other one',
  );
}

/** Absent keeps what is stored, null goes back to the default. */
function or<Value>(given: Value | null | undefined, stored: Value, fallback: Value): Value {
  if (given === undefined) return stored;
  return given ?? fallback;
}

/** The lists that a dnsbl monitor is to ask; undefined leaves it to its settings. */
function wantedLists(before: PlainValues, body: UpdateMonitor): readonly string[] | undefined {
  if (body.dnsbl_servers !== undefined) return body.dnsbl_servers ?? [];
  return Object.hasOwn(body.settings ?? {}, 'lists') ? undefined : orUndefined(before.dnsbl_servers);
}

function orUndefined<Item>(items: readonly Item[] | null | undefined): readonly Item[] | undefined {
  return items === undefined || items === null || items.length === 0 ? undefined : items;
}

function orNull<Item>(items: Item[] | null | undefined): Item[] | null {
  return items === undefined || items === null || items.length === 0 ? null : items;
}
