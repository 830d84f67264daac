import { readFileSync, statSync } from 'node:fs';
import type { Setting, SettingsDefinition } from './define.ts';
import { parseConfig } from './config-text.ts';
import { nearestName } from './nearest-name.ts';
import { SettingsError } from './read.ts';
import type { Environment } from './read.ts';

const maxBytes = 64 * 1024;

/**
 * Takes `--config FILE` out of a command line and adds the settings of that file to the environment. Without the flag, the variable
 * `CONFIG_FILE` with the prefix of the program names the file. What the environment names wins over the file, which so may hold what is common to several processes.
 *
 * Each line of the file is judged by itself, with its number: names that this program does not know are refused, also where the environment
 * would let them pass, and so are values that do not fit. Values of secrets are never told.
 * @param others settings of programs that this one starts; they may stand in the file too and are handed on
 * @throws SettingsError with every problem of the file at once
 */
export function withConfigFile(
  definition: SettingsDefinition,
  argv: readonly string[],
  env: Environment,
  others: readonly SettingsDefinition[] = [],
): { readonly argv: readonly string[]; readonly env: Environment } {
  const variable = `${definition.prefix}CONFIG_FILE`;
  const { rest, file } = takeFlag(argv);
  const { [variable]: named, ...ofEnvironment } = env;
  const chosen = file ?? (named === '' ? undefined : named);
  if (chosen === undefined) return { argv: rest, env: ofEnvironment };
  const ofFile = judged(chosen, [definition, ...others]);
  const merged: Record<string, string | undefined> = { ...ofEnvironment };
  for (const [name, value] of ofFile) {
    const base = name.replace(/_FILE$/, '');
    const isNamed = [base, `${base}_FILE`].some(
      (each) => ofEnvironment[each] !== undefined && ofEnvironment[each] !== '',
    );
    if (!isNamed) merged[name] = value;
  }
  return { argv: rest, env: merged };
}

/** What follows `--` belongs to somebody else. */
function takeFlag(argv: readonly string[]): { rest: string[]; file: string | undefined } {
  const end = argv.indexOf('--');
  const ours = end === -1 ? argv : argv.slice(0, end);
  const rest: string[] = [];
  const files: string[] = [];
  for (let at = 0; at < ours.length; at += 1) {
    const argument = ours[at] ?? '';
    if (argument !== '--config' && !argument.startsWith('--config=')) {
      rest.push(argument);
      continue;
    }
    if (argument === '--config') at += 1;
    files.push(argument === '--config' ? (ours[at] ?? '') : argument.slice('--config='.length));
  }
  if (files.length > 1) throw new SettingsError(['--config is given twice: keep one']);
  if (files[0] === '') throw new SettingsError(['--config: the name of a file is expected']);
  return { rest: end === -1 ? rest : [...rest, ...argv.slice(end)], file: files[0] };
}

function judged(file: string, definitions: readonly SettingsDefinition[]): ReadonlyMap<string, string> {
  const { entries, problems } = parseConfig(readText(file));
  const settings = new Map<string, Setting>();
  for (const definition of definitions)
    for (const [key, setting] of Object.entries(definition.settings)) settings.set(definition.prefix + key, setting);
  const known = [...settings.keys()].flatMap((name) => [name, `${name}_FILE`]);
  const lines = new Map<string, number>();
  const values = new Map<string, string>();
  const found = problems.map(({ line, text }) => ({ line, text }));
  for (const { name, value, line } of entries) {
    const setting = settings.get(name);
    const earlier = lines.get(name);
    const other = lines.get(name.endsWith('_FILE') ? name.slice(0, -5) : `${name}_FILE`);
    if (setting === undefined && !known.includes(name)) {
      const nearest = nearestName(name, known);
      found.push({ line, text: `${name} is not known${nearest === undefined ? '' : `: did you mean ${nearest}?`}` });
    } else if (earlier !== undefined) {
      found.push({ line, text: `${name} stands in line ${earlier} already: keep one` });
    } else if (other !== undefined) {
      found.push({ line, text: `${name} and the setting of line ${other} say the same thing: keep one` });
    } else if (setting !== undefined && value !== '') {
      const parsed = setting.schema.safeParse(value);
      if (!parsed.success) {
        const shown = setting.secret === true ? 'the given value' : JSON.stringify(value);
        found.push({
          line,
          text: `${name}: ${shown} does not fit: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`,
        });
      }
    }
    if (earlier === undefined) lines.set(name, line);
    values.set(name, value);
  }
  if (found.length > 0) {
    found.sort((a, b) => a.line - b.line);
    throw new SettingsError(found.map(({ line, text }) => `${file}, line ${line}: ${text}`));
  }
  return values;
}

function readText(file: string): string {
  try {
    const stat = statSync(file);
    if (!stat.isFile()) throw new SettingsError([`${file}: not a file`]);
    if (stat.size > maxBytes) throw new SettingsError([`${file} has ${stat.size} bytes, at most ${maxBytes}`]);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : (error as Error).message;
    throw new SettingsError([`the configuration file ${file} cannot be read: ${reason}`]);
  }
}
