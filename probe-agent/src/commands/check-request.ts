import { checkTypeOf, isProtocol, protocols, settingsSchema } from '@parallax/checks';
import type { Protocol } from '@parallax/checks';
import type { ZodObject, ZodType } from 'zod';
import { UsageError } from './output.ts';

/** Types by the port that their servers have, for targets without a scheme. */
const typeOfPort: Readonly<Record<string, Protocol>> = {
  21: 'ftp',
  22: 'ssh',
  25: 'smtp',
  80: 'http',
  110: 'pop3',
  123: 'ntp',
  143: 'imap',
  161: 'snmp',
  389: 'ldap',
  443: 'https',
  465: 'smtp',
  587: 'smtp',
  636: 'ldap',
  990: 'ftps',
  993: 'imap',
  995: 'pop3',
  1080: 'socks5',
  1433: 'mssql',
  1812: 'radius',
  1883: 'mqtt',
  3306: 'mysql',
  4222: 'nats',
  5060: 'sip',
  5061: 'sip',
  5432: 'postgres',
  5671: 'amqp',
  5672: 'amqp',
  6379: 'redis',
  8080: 'http',
  8443: 'https',
  8883: 'mqtt',
  9092: 'kafka',
  27017: 'mongodb',
};

/**
 * The type of a target: as it was asked for, else by its scheme, else by its port, else `https`. A scheme that is no type's name belongs to
 * the first type that takes such a target (`rediss://` to `redis`). Throws a UsageError where there is none.
 */
export function typeFor(target: string, wanted: string | undefined): Protocol {
  if (wanted !== undefined) {
    if (isProtocol(wanted)) return wanted;
    throw new UsageError(`"${wanted}" is no check type that this probe knows; "probe-agent check --types" lists them`);
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(target)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const port = /^(?:\[[^\]]*\]|[^:/]+):(\d{1,5})$/.exec(target)?.[1];
    return port === undefined ? 'https' : (typeOfPort[port] ?? 'tcp');
  }
  if (isProtocol(scheme)) return scheme;
  const taker = protocols.find((each) => takes(each, target));
  if (taker !== undefined) return taker;
  throw new UsageError(`"${scheme}://" is no check type that this probe knows; name one with --type`);
}

function takes(protocol: Protocol, url: string): boolean {
  const settings = settingsSchema(protocol).safeParse({});
  return settings.success && checkTypeOf(protocol).validateTarget({ url }, settings.data) === undefined;
}

/** One setting as it was written: `name=value`, or `name:=json`. */
export type Assigned = { readonly name: string; readonly text: string; readonly isJson: boolean };

/** Reads `name=value` and `name:=json`; throws a UsageError for anything else. */
export function assignedFrom(argument: string, flag: string): Assigned {
  const match = /^([a-z][a-z0-9_]*)(:?)=([^]*)$/.exec(argument);
  const [, name, colon, text] = match ?? [];
  if (name === undefined || text === undefined)
    throw new UsageError(`${flag} takes name=value, such as ${flag} keyword=welcome; this is not: ${shown(argument)}`);
  return { name, text, isJson: colon === ':' };
}

/** Only the name: the value may be a secret. */
function shown(argument: string): string {
  return JSON.stringify(argument.split('=')[0]?.slice(0, 40) ?? '');
}

/**
 * The settings of a run, read as a monitor's would be. A text becomes what its setting takes: itself, a number, true or false, JSON, or a
 * list whose entries stand between commas. Throws a UsageError that names the setting, never its value.
 */
export function settingsFrom(
  protocol: Protocol,
  base: unknown,
  assigned: readonly Assigned[],
): Record<string, unknown> {
  if (typeof base !== 'object' || base === null || Array.isArray(base))
    throw new UsageError('--settings: a JSON object with the settings of the check is expected');
  const settings: Record<string, unknown> = { ...base };
  const schema = settingsSchema(protocol);
  const fields = (schema as ZodObject).shape as Readonly<Record<string, ZodType>>;
  for (const { name, text, isJson } of assigned) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined)
      throw new UsageError(`"${protocol}" has no setting "${name}"; it has: ${Object.keys(fields).sort().join(', ')}`);
    settings[name] = isJson ? jsonOf(name, text) : valueFor(field, text);
  }
  const read = schema.safeParse(settings);
  if (read.success) return settings;
  const problems = read.error.issues.map((issue) => `${issue.path.join('.') || 'the settings'}: ${issue.message}`);
  throw new UsageError(`the settings do not fit "${protocol}": ${problems.slice(0, 5).join('; ')}`);
}

function jsonOf(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(`the setting "${name}" was given with := and is no JSON`);
  }
}

/** The first reading of a text that the setting takes; the text itself where none does, so that the error is about what was written. */
function valueFor(field: ZodType, text: string): unknown {
  const parsed = read(text);
  const list = text.split(',').map((each) => each.trim());
  const readings = [text, parsed, [parsed], list, list.map(read)];
  return readings.find((reading) => reading !== undefined && field.safeParse(reading).success) ?? text;
}

function read(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
