import { booleanCell, integerCell, RowFault, separated, textCell } from '../file/cells.ts';
import type { Cells } from '../file/table.ts';
import { intervalOf, timeoutOf } from './durations.ts';
import { present, Untranslatable } from './imported.ts';
import type { Format } from './imported.ts';
import { kindOf } from './kinds.ts';
import { targetOfKind } from './target-of-kind.ts';
import { hostTarget } from './targets.ts';

/** Lists of Better Stack's uptime monitors, with the names of its API (`/api/v2/monitors`). */
export const betterStack: Format = {
  name: 'better_stack',
  marks: [['pronounceable_name'], ['monitor_type'], ['check_frequency']],
  target: ['url'],
  title: ['pronounceable_name', 'name'],
  read: (cells, warnings) => {
    const type = textCell(cells, 'monitor_type')?.toLowerCase() ?? 'status';
    // First, since what is no monitor here may have no address.
    const kind = type === 'expected_status_code' ? 'web' : kindOf(type);
    const address = textCell(cells, 'url');
    if (address === undefined) throw new RowFault('url_missing', 'the URL is missing');
    if (type === 'dns') return { body: dnsBody(cells, address, warnings), lacking: [] };
    const isWeb = kind === 'web' || kind === 'keyword' || kind === 'keyword_absent';
    const required = textCell(cells, 'required_keyword');
    const keywords =
      kind === 'keyword' ? { keyword: required } : kind === 'keyword_absent' ? { keywordAbsent: required } : {};
    return {
      body: present({
        ...commonFields(cells, warnings),
        ...targetOfKind(kind, address, { port: portOf(cells, warnings), ...keywords }, warnings),
        ...(isWeb ? webFields(cells, type) : {}),
      }),
      lacking: [],
    };
  },
};

function commonFields(cells: Cells, warnings: string[]) {
  const frequency = textCell(cells, 'check_frequency');
  const timeout = textCell(cells, 'request_timeout');
  if (textCell(cells, 'regions') !== undefined)
    warnings.push('regions of Better Stack are no regions here and were left out');
  return {
    name: textCell(cells, 'pronounceable_name', 'name'),
    interval_seconds: frequency === undefined ? undefined : intervalOf(frequency, 'seconds', warnings),
    timeout_seconds: timeout === undefined ? undefined : timeoutOf(timeout, warnings),
    is_active: booleanCell(cells, 'paused') === true ? false : undefined,
  };
}

/** A DNS monitor of theirs asks the server in `url` for the domain in `request_body`. */
function dnsBody(cells: Cells, server: string, warnings: string[]) {
  const domain = textCell(cells, 'request_body');
  if (domain === undefined) throw new Untranslatable('a DNS monitor needs its domain, which is not in the file');
  const settings = { server: hostTarget(server, []) };
  return present({ ...commonFields(cells, warnings), url: domain, protocol: 'dns', settings });
}

function webFields(cells: Cells, type: string) {
  const codes = textCell(cells, 'expected_status_codes');
  return {
    method: textCell(cells, 'http_method')?.toUpperCase(),
    verify_tls: booleanCell(cells, 'verify_ssl'),
    follow_redirects: booleanCell(cells, 'follow_redirects'),
    expected_status: codes === undefined || type !== 'expected_status_code' ? undefined : statusCodes(codes),
  };
}

/** `200, 301`, also as a JSON array. @throws RowFault */
function statusCodes(text: string): readonly number[] {
  return separated(text.replaceAll(/[[\]"{}]/g, '').replaceAll(/[; ]+/g, ',')).map((code) => {
    if (/^[1-5][0-9]{2}$/.test(code)) return Number(code);
    throw new RowFault('invalid_cell', `expected_status_codes: "${code.slice(0, 20)}" is no status code`);
  });
}

/** Mail monitors may have several; one is checked. */
function portOf(cells: Cells, warnings: string[]): number | undefined {
  const ports = separated(textCell(cells, 'port') ?? '');
  const [first] = ports;
  if (first === undefined) return undefined;
  if (ports.length > 1) warnings.push(`of the ports ${ports.join(', ').slice(0, 100)} the first is checked`);
  return integerCell(new Map([['port', first]]), 'port');
}
