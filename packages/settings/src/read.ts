import { readFileSync, statSync } from 'node:fs';
import { camelCase, type Setting, type SettingsDefinition, type SettingsOf } from './define.ts';
import { nearestName } from './nearest-name.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that is wrong with the settings, one line per problem. Secret values are never part of it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`these settings are wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const fileSuffix = '_FILE';
const maxFileBytes = 64 * 1024;

type Given = { readonly text: string; readonly source: string } | { readonly problem: string } | undefined;

/**
 * Reads settings from the environment, each also from a file named by the variable with the suffix `_FILE` (one trailing line break is cut).
 *
 * An empty variable counts as not set. `overrides` holds what the command line says, by key; it wins over the environment and its
 * flag (`--http-port`) is named in errors. Throws a `SettingsError` that lists every problem at once: values that do not fit,
 * a variable given both directly and as a file, unreadable files, and unknown variables with the nearest known name.
 */
export function readSettings<D extends SettingsDefinition>(
  definition: D,
  env: Environment,
  overrides: Environment = {},
): SettingsOf<D> {
  const problems = [...unknownVariables(definition, env), ...unknownOverrides(definition, overrides)];
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries<Setting>(definition.settings)) {
    const given = givenValue(definition.prefix + key, key, env, overrides);
    if (given !== undefined && 'problem' in given) {
      problems.push(given.problem);
      continue;
    }
    const text = given?.text ?? setting.default;
    if (text === undefined) {
      values[camelCase(key)] = undefined;
      continue;
    }
    const parsed = setting.schema.safeParse(text);
    if (parsed.success) values[camelCase(key)] = deepFreeze(parsed.data);
    else {
      const reasons = parsed.error.issues.map((issue) => issue.message).join('; ');
      const shown = setting.secret === true ? 'the given value' : JSON.stringify(text);
      problems.push(`${given?.source ?? definition.prefix + key}: ${shown} does not fit: ${reasons}`);
    }
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.freeze(values) as SettingsOf<D>;
}

/** The settings (in camel case) that somebody named, in the environment, by file or on the command line, as opposed to defaults. */
export function explicitSettings(
  definition: SettingsDefinition,
  env: Environment,
  overrides: Environment = {},
): ReadonlySet<string> {
  const keys = Object.keys(definition.settings).filter((key) => {
    const name = definition.prefix + key;
    return isSet(overrides[key]) || isSet(env[name]) || isSet(env[name + fileSuffix]);
  });
  return new Set(keys.map(camelCase));
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

function givenValue(name: string, key: string, env: Environment, overrides: Environment): Given {
  const override = overrides[key];
  if (override !== undefined && override !== '') {
    return { text: override, source: `--${key.toLowerCase().replaceAll('_', '-')}` };
  }
  const direct = env[name] === '' ? undefined : env[name];
  const file = env[name + fileSuffix] === '' ? undefined : env[name + fileSuffix];
  if (direct !== undefined && file !== undefined) {
    return { problem: `${name} and ${name}${fileSuffix} are both set: keep one` };
  }
  if (direct !== undefined) return { text: direct, source: name };
  if (file === undefined) return undefined;
  try {
    const size = statSync(file).size;
    if (size > maxFileBytes)
      return { problem: `${name}${fileSuffix}: ${file} has ${size} bytes, at most ${maxFileBytes}` };
    return { text: readFileSync(file, 'utf8').replace(/\r?\n$/, ''), source: `${name}${fileSuffix} (${file})` };
  } catch (error) {
    return { problem: `${name}${fileSuffix}: cannot read ${file}: ${(error as Error).message}` };
  }
}

function unknownVariables(definition: SettingsDefinition, env: Environment): string[] {
  const keys = Object.keys(definition.settings).map((key) => definition.prefix + key);
  const known = new Set([...keys, ...keys.map((key) => key + fileSuffix)]);
  const isForeign = (name: string) => definition.foreignPrefixes.some((prefix) => name.startsWith(prefix));
  return Object.keys(env)
    .filter(
      (name) => name.startsWith(definition.prefix) && env[name] !== undefined && !known.has(name) && !isForeign(name),
    )
    .sort()
    .map((name) => `${name} is not known${suggestion(name, [...known])}`);
}

function unknownOverrides(definition: SettingsDefinition, overrides: Environment): string[] {
  const known = Object.keys(definition.settings);
  return Object.keys(overrides)
    .filter((key) => overrides[key] !== undefined && !known.includes(key))
    .map((key) => `${key} is not known${suggestion(key, known)}`);
}

function suggestion(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? '' : `: did you mean ${nearest}?`;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
