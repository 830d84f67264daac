import { groupProtocol } from '@parallax/api-contract';
import { checkTypeOf, isProtocol, secretFieldsOf } from '@parallax/checks';
import type { Protocol } from '@parallax/checks';
import { allSecretNames } from '../export/columns.ts';
import { insteadOfIdentifier, namedGroupSettings, namedGroupTarget } from '../../../groups/check/index.ts';
import type { NamedGroupSettings } from '../../../groups/check/index.ts';
import { booleanCell, integerCell, jsonOf, listCell, RowFault, textCell, wholeNumber } from '../file/cells.ts';
import type { Cells } from '../file/table.ts';
import { checkRateOf, intervalOf, timeoutOf } from './durations.ts';
import { present } from './imported.ts';
import type { Format, ImportedMonitor } from './imported.ts';
import { kindOf } from './kinds.ts';
import { targetOfKind } from './target-of-kind.ts';

const titles = ['name', 'monitor_name', 'website_name', 'friendly_name', 'title', 'label'];
const targets = ['url', 'target', 'address', 'website', 'hostname', 'host', 'url_ip', 'website_url', 'uri'];

/** What an own export has in its header. */
export const own: Format = {
  name: 'parallax',
  marks: [
    ['url', 'interval_seconds'],
    ['url', 'protocol', 'settings'],
    ['url', 'consensus_policy'],
  ],
  target: targets,
  title: titles,
  read: readOwn,
};

/** Any list with a column of targets, under the names that people use. */
export const generic: Format = { name: 'generic', marks: [], target: targets, title: titles, read: readOwn };

function readOwn(cells: Cells, warnings: string[]): Omit<ImportedMonitor, 'kind' | 'warnings'> {
  const watches = textCell(cells, 'protocol')?.toLowerCase() === groupProtocol ? watchesOf(cells) : undefined;
  const address = textCell(cells, ...targets);
  const word = textCell(cells, 'protocol', 'type', 'monitor_type', 'test_type');
  // Says so of what is no monitor here, which may have no address.
  if (address === undefined && watches === undefined && word !== undefined) kindOf(word);
  if (address === undefined && watches === undefined) throw new RowFault('url_missing', 'the URL is missing');
  const target =
    watches === undefined
      ? targetOf(cells, address ?? '', warnings)
      : { url: namedGroupTarget(watches), protocol: groupProtocol };
  const given = secretsOf(cells, target.protocol);
  const interval = textCell(cells, 'interval_seconds');
  const thresholds = (column: string) => listCell(cells, column)?.map((day) => wholeNumber(day, column));
  const policy = textCell(cells, 'consensus_policy');
  const timeout = textCell(cells, 'timeout');
  return {
    body: present({
      ...target,
      name: textCell(cells, ...titles),
      description: cells.get('description'),
      interval_seconds:
        interval === undefined ? looseInterval(cells, warnings) : integerCell(cells, 'interval_seconds'),
      timeout_seconds:
        integerCell(cells, 'timeout_seconds') ?? (timeout === undefined ? undefined : timeoutOf(timeout, warnings)),
      confirmations: integerCell(cells, 'confirmations'),
      consensus_policy: policy !== undefined && /^[0-9]+$/.test(policy) ? Number(policy) : policy,
      degraded_threshold_ms: integerCell(cells, 'degraded_threshold_ms'),
      is_active: activeOf(cells),
      tags: listCell(cells, 'tags'),
      regions: listCell(cells, 'regions'),
      dnsbl_servers: listCell(cells, 'dnsbl_servers'),
      certificate_thresholds_days: thresholds('certificate_thresholds_days'),
      domain_thresholds_days: thresholds('domain_thresholds_days'),
      ...webFields(cells),
      settings: watches === undefined ? settingsOf(cells, given) : undefined,
    }),
    watches,
    probes: listCell(cells, 'probes'),
    lacking: lackingOf(cells, given),
  };
}

/** A protocol of ours stands for itself with the address as it is; a word of another tool is translated. */
function targetOf(cells: Cells, address: string, warnings: string[]) {
  const protocol = textCell(cells, 'protocol')?.toLowerCase();
  // What the protocol takes stays as it is written, or an own export would come back as another monitor.
  if (protocol !== undefined && isProtocol(protocol) && takesAddress(protocol, address))
    return { url: address, protocol };
  const word = textCell(cells, 'protocol', 'type', 'monitor_type', 'test_type');
  if (word === undefined) return withoutType(address, warnings);
  const assumed = word.toLowerCase() === 'http' ? 'http' : 'https';
  const keyword = { keyword: textCell(cells, 'keyword'), keywordAbsent: textCell(cells, 'keyword_absent') };
  const value = textCell(cells, 'keyword_value');
  const kind = kindOf(word);
  const found =
    kind === 'keyword_absent'
      ? { keywordAbsent: keyword.keywordAbsent ?? keyword.keyword ?? value }
      : kind === 'keyword'
        ? { ...keyword, keyword: keyword.keyword ?? value }
        : {};
  const port = integerCell(cells, 'port');
  return targetOfKind(kind, address, { assumed, port, ...found }, warnings);
}

/** Only web pages and pings are written in other ways by others; what is wrong with another target the rules of creation say. */
function takesAddress(protocol: Protocol, address: string): boolean {
  if (!['http', 'https', 'ping', 'icmp'].includes(protocol)) return true;
  return checkTypeOf(protocol).validateTarget({ url: address }, {}) === undefined;
}

/** The scheme says the protocol; a bare host is a web page. */
function withoutType(address: string, warnings: string[]) {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return targetOfKind('web', address, {}, warnings);
  if (!isProtocol(scheme)) throw new RowFault('type_unknown', `no protocol is named "${scheme.slice(0, 50)}"`);
  return { url: address, protocol: scheme };
}

function looseInterval(cells: Cells, warnings: string[]): number | undefined {
  const minutes = textCell(cells, 'resolution', 'interval_minutes');
  if (minutes !== undefined) return intervalOf(minutes, 'minutes', warnings);
  const rate = textCell(cells, 'check_rate');
  if (rate !== undefined) return checkRateOf(rate, warnings);
  const seconds = textCell(cells, 'check_frequency');
  if (seconds !== undefined) return intervalOf(seconds, 'seconds', warnings);
  const text = textCell(cells, 'interval', 'check_interval', 'frequency');
  return text === undefined ? undefined : intervalOf(text, 'guess', warnings);
}

function activeOf(cells: Cells): boolean | undefined {
  const paused = booleanCell(cells, 'paused');
  return booleanCell(cells, 'is_active', 'active', 'enabled') ?? (paused === undefined ? undefined : !paused);
}

/** Settings of web checks may have columns of their own, as they may stand at the top level of a body. */
function webFields(cells: Cells) {
  const statuses = listCell(cells, 'expected_status')?.map((each) => (/^[0-9]{3}$/.test(each) ? Number(each) : each));
  const headers = textCell(cells, 'headers');
  return {
    method: textCell(cells, 'method')?.toUpperCase(),
    headers: headers === undefined ? undefined : jsonOf(headers, 'headers'),
    body: cells.get('body'),
    expected_status: statuses,
    ...(textCell(cells, 'type', 'monitor_type') === undefined ? keywordsOf(cells) : {}),
    verify_tls: booleanCell(cells, 'verify_tls'),
    follow_redirects: booleanCell(cells, 'follow_redirects'),
  };
}

function keywordsOf(cells: Cells) {
  return { keyword: textCell(cells, 'keyword'), keyword_absent: textCell(cells, 'keyword_absent') };
}

function settingsOf(cells: Cells, secrets: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const text = textCell(cells, 'settings');
  const username = textCell(cells, 'username');
  if (text === undefined && username === undefined && Object.keys(secrets).length === 0) return undefined;
  const parsed = text === undefined ? {} : jsonOf(text, 'settings');
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new RowFault('invalid_cell', 'settings: a JSON object is expected');
  }
  return { ...(parsed as Record<string, unknown>), ...(username === undefined ? {} : { username }), ...secrets };
}

/** What a group monitor watches, by name. Judged here, since a request has no such settings. */
function watchesOf(cells: Cells): NamedGroupSettings {
  const parsed = namedGroupSettings.safeParse(settingsOf(cells, {}) ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const where = ['settings', ...(issue?.path.map(String) ?? [])].join('.');
  const instead = unknown === undefined ? undefined : insteadOfIdentifier(unknown);
  throw new RowFault('invalid_cell', `${where}: ${instead ?? issue?.message ?? 'not valid'}`.slice(0, 300));
}

const objectSecrets: ReadonlySet<string> = new Set(['secret_headers', 'keyed_lists', 'secrets']);

/** Secrets that somebody wrote into the file, in columns named after the settings; those that are no texts as JSON. */
function secretsOf(cells: Cells, protocol: string): Record<string, unknown> {
  const names = isProtocol(protocol) ? secretFieldsOf(protocol) : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = cells.get(name);
      if (text === undefined || text.trim() === '') return [];
      return [[name, objectSecrets.has(name) ? jsonOf(text, name) : text] as const];
    }),
  );
}

/** What an export says that the monitor had and what is not in the file. */
function lackingOf(cells: Cells, given: Readonly<Record<string, unknown>>): readonly string[] {
  return [...allSecretNames()]
    .filter((name) => booleanCell(cells, `has_${name}`) === true && !Object.hasOwn(given, name))
    .sort();
}
