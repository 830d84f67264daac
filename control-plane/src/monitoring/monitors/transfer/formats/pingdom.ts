import { booleanCell, integerCell, listCell, RowFault, textCell } from '../file/cells.ts';
import type { Cells } from '../file/table.ts';
import { intervalOf } from './durations.ts';
import { present, Untranslatable } from './imported.ts';
import type { Format } from './imported.ts';
import { kindOf } from './kinds.ts';
import { targetOfKind } from './target-of-kind.ts';

/** Lists of Pingdom's uptime checks, with the names of its API (`/checks`): host, path, port and encryption in cells of their own. */
export const pingdom: Format = {
  name: 'pingdom',
  marks: [['hostname', 'resolution'], ['hostname', 'encryption'], ['shouldcontain'], ['shouldnotcontain']],
  target: ['hostname', 'host'],
  title: ['name'],
  read: (cells, warnings) => {
    const type = textCell(cells, 'type')?.toLowerCase() ?? 'http';
    if (type === 'httpcustom') throw new Untranslatable('a custom HTTP check of Pingdom cannot be translated');
    // First, since what is no monitor here may have no address.
    const kind = kindOf(type);
    const host = textCell(cells, ...pingdom.target);
    if (host === undefined) throw new RowFault('url_missing', 'the hostname is missing');
    const isWeb = kind === 'web';
    const resolution = textCell(cells, 'resolution');
    return {
      body: present({
        name: textCell(cells, ...pingdom.title),
        ...targetOfKind(kind, isWeb ? webAddress(cells, host) : host, partsOf(cells, isWeb), warnings),
        interval_seconds: resolution === undefined ? undefined : intervalOf(resolution, 'minutes', warnings),
        tags: listCell(cells, 'tags'),
        is_active:
          booleanCell(cells, 'paused') === true || textCell(cells, 'status')?.toLowerCase() === 'paused'
            ? false
            : undefined,
        ...(isWeb ? { verify_tls: booleanCell(cells, 'verify_certificate') } : {}),
        settings: kind === 'port' || kind === 'udp' ? exchangeOf(cells) : kind === 'dns' ? answerOf(cells) : undefined,
      }),
      lacking: [],
    };
  },
};

function partsOf(cells: Cells, isWeb: boolean) {
  if (!isWeb) return { port: integerCell(cells, 'port') };
  return { keyword: textCell(cells, 'shouldcontain'), keywordAbsent: textCell(cells, 'shouldnotcontain') };
}

/** A whole URL, should one stand in place of the host, stays as it is. */
function webAddress(cells: Cells, host: string): string {
  if (/^https?:\/\//i.test(host)) return host;
  const isSecure = booleanCell(cells, 'encryption') === true;
  const port = integerCell(cells, 'port');
  const path = textCell(cells, 'url') ?? '/';
  const at = port === undefined || port === (isSecure ? 443 : 80) ? '' : `:${port}`;
  return `http${isSecure ? 's' : ''}://${host}${at}${path.startsWith('/') ? path : `/${path}`}`;
}

function exchangeOf(cells: Cells): Record<string, unknown> | undefined {
  const send = textCell(cells, 'stringtosend');
  const expect = textCell(cells, 'stringtoexpect');
  return send === undefined && expect === undefined ? undefined : present({ send, expect });
}

function answerOf(cells: Cells): Record<string, unknown> {
  const expected = textCell(cells, 'expectedip');
  return present({
    server: textCell(cells, 'nameserver'),
    expected_values: expected === undefined ? undefined : [expected],
  });
}
