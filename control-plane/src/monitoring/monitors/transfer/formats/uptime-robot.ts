import { booleanCell, integerCell, listCell, RowFault, textCell } from '../file/cells.ts';
import { foldName } from '../file/table.ts';
import type { Cells } from '../file/table.ts';
import { intervalOf, timeoutOf } from './durations.ts';
import { present, Untranslatable } from './imported.ts';
import type { Format } from './imported.ts';
import { kindOf } from './kinds.ts';
import { targetOfKind } from './target-of-kind.ts';

/** Sub types of its port monitors; 99 is a port of one's own. */
const portsOfSubTypes: ReadonlyMap<string, number> = new Map([
  ['1', 80],
  ['2', 443],
  ['3', 21],
  ['4', 25],
  ['5', 110],
  ['6', 143],
]);
const subTypeWords = ['http', 'https', 'ftp', 'smtp', 'pop3', 'imap'];

/**
 * Exports and bulk files of UptimeRobot: the older ones with `Type, Friendly Name, URL/IP, Interval` (minutes), the newer ones with the names
 * of its API, `friendly_name, url, type, sub_type` and an interval in seconds.
 */
export const uptimeRobot: Format = {
  name: 'uptime_robot',
  marks: [['friendly_name'], ['type', 'url_ip']],
  target: ['url', 'url_ip', 'url_or_ip', 'url_ip_host'],
  title: ['friendly_name'],
  read: (cells, warnings) => {
    // First, since a heartbeat has no address.
    const kind = kindOf(textCell(cells, 'type', 'monitor_type') ?? '1');
    const address = textCell(cells, ...uptimeRobot.target);
    if (address === undefined) throw new RowFault('url_missing', 'the URL is missing');
    const interval = textCell(cells, 'interval', 'monitoring_interval');
    const timeout = textCell(cells, 'timeout');
    const keyword = textCell(cells, 'keyword_value');
    const isAbsent = keyword !== undefined && alertsWhenThere(cells, kind === 'keyword_absent');
    const isWeb = kind === 'web' || kind === 'keyword' || kind === 'keyword_absent';
    const keywords =
      isWeb && kind !== 'web'
        ? { keyword: isAbsent ? undefined : keyword, keywordAbsent: isAbsent ? keyword : undefined }
        : {};
    return {
      body: present({
        name: textCell(cells, 'friendly_name'),
        ...targetOfKind(kind, address, { port: portOf(cells), ...keywords }, warnings),
        interval_seconds:
          interval === undefined ? undefined : intervalOf(interval, isOldForm(cells) ? 'minutes' : 'guess', warnings),
        timeout_seconds: timeout === undefined ? undefined : timeoutOf(timeout, warnings),
        tags: listCell(cells, 'tags', 'tag'),
        is_active: isPaused(cells) ? false : undefined,
        settings: isWeb ? loginOf(cells) : undefined,
      }),
      lacking: [],
    };
  },
};

const isOldForm = (cells: Cells): boolean =>
  textCell(cells, 'url') === undefined && textCell(cells, 'url_ip') !== undefined;

/** Keyword type 1 alerts when it is there, 2 when it is not. */
function alertsWhenThere(cells: Cells, byKind: boolean): boolean {
  const text = textCell(cells, 'keyword_type', 'keyword_case', 'alert_when');
  if (text === undefined) return byKind;
  const folded = foldName(text);
  if (['1', 'exists', 'alert_exists', 'keyword_exists'].includes(folded)) return true;
  if (['2', 'not_exists', 'alert_not_exists', 'keyword_not_exists', 'does_not_exist'].includes(folded)) return false;
  throw new RowFault('invalid_cell', `keyword_type: "${text.slice(0, 50)}" is neither 1 (exists) nor 2 (not exists)`);
}

/** In one form the cell `Port` holds the sub type and `Custom port` the number; no service of anybody's listens on the ports 1 to 6. */
function portOf(cells: Cells): number | undefined {
  const custom = integerCell(cells, 'custom_port');
  if (custom !== undefined) return custom;
  const text = textCell(cells, 'sub_type', 'port');
  if (text === undefined) return undefined;
  const word = /^[a-z0-9]+/i.exec(text)?.[0].toLowerCase() ?? '';
  const known = portsOfSubTypes.get(text) ?? portsOfSubTypes.get(String(subTypeWords.indexOf(word) + 1));
  return known ?? integerCell(cells, 'port');
}

function isPaused(cells: Cells): boolean {
  const status = textCell(cells, 'status')?.toLowerCase();
  return status === '0' || status === 'paused' || booleanCell(cells, 'paused') === true;
}

function loginOf(cells: Cells): Record<string, unknown> | undefined {
  const username = textCell(cells, 'http_username');
  if (username === undefined) return undefined;
  if (foldName(textCell(cells, 'http_auth_type', 'auth_type') ?? '') === 'bearer') {
    throw new Untranslatable('its bearer token is not in the file; create the monitor by hand');
  }
  const password = cells.get('http_password');
  return { username, ...(password === undefined ? {} : { password }) };
}
