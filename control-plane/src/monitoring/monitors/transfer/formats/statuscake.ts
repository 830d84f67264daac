import { booleanCell, integerCell, listCell, RowFault, textCell } from '../file/cells.ts';
import { checkRateOf, timeoutOf } from './durations.ts';
import { present } from './imported.ts';
import type { Format } from './imported.ts';
import { kindOf } from './kinds.ts';
import { targetOfKind } from './target-of-kind.ts';

/** Lists of StatusCake's uptime checks, with the names of its API (`/v1/uptime`). */
export const statusCake: Format = {
  name: 'statuscake',
  marks: [['website_url'], ['test_type'], ['check_rate']],
  target: ['website_url', 'url'],
  title: ['name', 'website_name'],
  read: (cells, warnings) => {
    const type = textCell(cells, 'test_type', 'type')?.toLowerCase() ?? 'http';
    // First, since what is no monitor here may have no address.
    const kind = kindOf(type);
    const address = textCell(cells, ...statusCake.target);
    if (address === undefined) throw new RowFault('url_missing', 'the URL is missing');
    const isWeb = kind === 'web';
    const find = isWeb ? textCell(cells, 'find_string') : undefined;
    const isAbsent = booleanCell(cells, 'do_not_find') === true;
    const rate = textCell(cells, 'check_rate');
    const timeout = textCell(cells, 'timeout');
    const confirmation = integerCell(cells, 'confirmation');
    return {
      body: present({
        name: textCell(cells, ...statusCake.title),
        ...targetOfKind(
          kind,
          address,
          { port: integerCell(cells, 'port'), ...(isAbsent ? { keywordAbsent: find } : { keyword: find }) },
          warnings,
        ),
        interval_seconds: rate === undefined ? undefined : checkRateOf(rate, warnings),
        timeout_seconds: timeout === undefined ? undefined : timeoutOf(timeout, warnings),
        // Servers that confirm there, failures in a row here; both 1 to a handful.
        confirmations: confirmation === undefined ? undefined : Math.min(5, Math.max(1, confirmation)),
        tags: listCell(cells, 'tags'),
        is_active: booleanCell(cells, 'paused') === true ? false : undefined,
        ...(isWeb
          ? { method: type === 'head' ? 'HEAD' : undefined, follow_redirects: booleanCell(cells, 'follow_redirects') }
          : {}),
      }),
      lacking: [],
    };
  },
};
