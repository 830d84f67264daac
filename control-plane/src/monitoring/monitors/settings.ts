import { isDeepStrictEqual } from 'node:util';
import { invalidInput, Problem } from '@parallax/api-contract';
import type { InputError, InputErrorCode, InputPath, MonitorProtocol } from '@parallax/api-contract';
import { kindOf } from './kinds.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Settings of a monitor as they are stored: what may be answered, and what is sealed. */
export type SplitSettings = { readonly open: Fields; readonly secret: Fields };

/** What a request says about settings. */
export type SettingsInput = {
  /** The key `settings`: undefined keeps, null clears all. */
  readonly settings: Fields | null | undefined;
  /** Settings that were written beside it; only keys that were sent. */
  readonly topLevel: Fields;
};

/** Settings of HTTP that bodies may also carry at the top level. */
const topLevelNames = [
  'method',
  'headers',
  'body',
  'expected_status',
  'keyword',
  'keyword_absent',
  'verify_tls',
  'follow_redirects',
] as const;

/** Settings that have another name at the top level. */
const outerNames: ReadonlyMap<string, string> = new Map([['lists', 'dnsbl_servers']]);

/**
 * Picks what a body says about settings.
 * @param lists the monitor's `dnsbl_servers`, which its check knows as the setting `lists`; absent: they rule nothing here
 */
export function settingsInput(
  body: { readonly settings?: Fields | null | undefined } & Fields,
  lists?: readonly string[],
): SettingsInput {
  const sent = topLevelNames.filter((name) => body[name] !== undefined);
  const topLevel = Object.fromEntries(sent.map((name) => [name, body[name]]));
  return { settings: body.settings, topLevel: lists === undefined ? topLevel : { ...topLevel, lists } };
}

/**
 * Applies what was sent to what is stored and validates the whole by the schema of the check type. An absent setting keeps, null
 * goes back to the default; `has_<secret>` of an earlier answer is passed over.
 * @param base what the new settings are built on, secrets included; empty for a new monitor
 * @returns effective settings with their defaults, split
 * @throws Problem `invalid_input` with the path of each setting that is wrong
 */
export function composeSettings(protocol: MonitorProtocol, base: Fields, input: SettingsInput): SplitSettings {
  const checkType = kindOf(protocol);
  const marks = new Set(checkType.secretFields.map((name) => `has_${name}`));
  const given = Object.entries(input.settings ?? {}).filter(([name]) => !marks.has(name));
  // What says the same in both places, as an answer or an export that is sent back does, says it once.
  const twice = given.find(
    ([name, value]) => Object.hasOwn(input.topLevel, name) && !isDeepStrictEqual(value, input.topLevel[name]),
  );
  if (twice !== undefined) {
    const name = outerNames.get(twice[0]) ?? twice[0];
    throw invalidInput('body', `/${name}`, 'given_twice', `${name} is given at the top level and in settings`);
  }
  const kept = input.settings === null ? [] : Object.entries(base);
  const merged = new Map([...kept, ...given, ...Object.entries(input.topLevel)]);
  const wanted = Object.fromEntries([...merged].filter(([, value]) => value !== null && value !== undefined));
  const parsed = checkType.settings().safeParse(wanted);
  if (!parsed.success) throw settingsProblem(protocol, parsed.error.issues, input.topLevel);
  return split(parsed.data, checkType.secretFields);
}

/**
 * @throws Problem `invalid_input` when the protocol cannot be pointed at the URL: not a target, another scheme, user information
 */
export function requireTarget(protocol: MonitorProtocol, url: string, settings: SplitSettings): void {
  const whole = { ...settings.open, ...settings.secret };
  const reason = kindOf(protocol).validateTarget({ url }, whole);
  if (reason !== undefined) throw invalidInput('body', '/url', 'target_invalid', reason);
}

/** Whether two protocols take the same settings, so that a change between them may keep what is stored. */
export function sharesSettings(one: MonitorProtocol, other: MonitorProtocol): boolean {
  return kindOf(one).settings === kindOf(other).settings;
}

/** Whether two values are the same JSON, whatever the order of their keys. */
export function sameJson(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

function split(parsed: unknown, secretFields: readonly string[]): SplitSettings {
  const open: Record<string, unknown> = {};
  const secret: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parsed ?? {})) {
    if (!secretFields.includes(name)) {
      if (value !== undefined) open[name] = value;
    } else if (isSet(value)) secret[name] = value;
  }
  return { open, secret };
}

/** An empty text, list or object is no secret. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

type Issue = {
  readonly code: InputErrorCode;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
};

function settingsProblem(protocol: MonitorProtocol, issues: readonly Issue[], topLevel: Fields): Problem {
  const errors = issues.slice(0, 100).flatMap((issue): InputError[] => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys' || path.length > 0) {
      return [{ in: 'body', path: whereIs(path, topLevel), code: issue.code, message: issue.message }];
    }
    return (issue.keys ?? []).map((name) => ({
      in: 'body',
      path: whereIs([name], topLevel),
      code: issue.code,
      message: `the protocol ${protocol} has no setting "${name.slice(0, 100)}"`,
    }));
  });
  const first = errors[0];
  return new Problem('invalid_input', `body ${first?.path ?? ''}: ${first?.message ?? 'not valid'}`, { errors });
}

/** JSON pointer of a setting in the body as it was sent. */
function whereIs(path: readonly string[], topLevel: Fields): InputPath {
  const [first, ...rest] = path;
  if (first === undefined || !Object.hasOwn(topLevel, first)) return pointer(['settings', ...path]);
  return pointer([outerNames.get(first) ?? first, ...rest]);
}

/** JSON pointer (RFC 6901). */
function pointer(path: readonly string[]): InputPath {
  return path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('') as InputPath;
}
