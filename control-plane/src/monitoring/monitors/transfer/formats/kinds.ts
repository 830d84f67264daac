import { isProtocol } from '@parallax/checks';
import type { Protocol } from '@parallax/checks';
import { RowFault } from '../file/cells.ts';
import { foldName } from '../file/table.ts';
import { Untranslatable } from './imported.ts';

/** What a row checks, in the words of other tools. */
export type Kind = 'web' | 'keyword' | 'keyword_absent' | 'port' | Protocol;

/** Words and type codes that several tools use for the same; UptimeRobot's are numbers. */
const words: ReadonlyMap<string, Kind> = new Map(
  Object.entries({
    1: 'web',
    2: 'keyword',
    3: 'ping',
    4: 'port',
    http: 'web',
    https: 'web',
    http_s: 'web',
    httphttps: 'web',
    web: 'web',
    website: 'web',
    url: 'web',
    status: 'web',
    head: 'web',
    keyword: 'keyword',
    keyword_presence: 'keyword',
    keyword_absence: 'keyword_absent',
    keyword_absent: 'keyword_absent',
    icmp: 'ping',
    port: 'port',
    tcp: 'port',
    pop: 'pop3',
  } as const),
);

/** Kinds of other tools that are no monitors here, with what to do instead. */
const elsewhere: ReadonlyMap<string, string> = new Map(
  Object.entries({
    5: 'a heartbeat is no monitor; create a heartbeat',
    heartbeat: 'a heartbeat is no monitor; create a heartbeat',
    push: 'a push monitor is a heartbeat; create a heartbeat',
    cron: 'a cron job is a heartbeat; create a heartbeat',
    playwright: 'a browser script cannot be translated',
    transaction: 'a transaction of several steps cannot be translated',
    group: 'a group of monitors cannot be translated; create a group',
  }),
);

/**
 * What a word for the type of a check means.
 * @throws RowFault for an unknown one, Untranslatable for one that is no monitor
 */
export function kindOf(word: string): Kind {
  const folded = foldName(word);
  const reason = elsewhere.get(folded);
  if (reason !== undefined) throw new Untranslatable(reason);
  const kind = words.get(folded);
  if (kind !== undefined) return kind;
  if (isProtocol(folded)) return folded;
  throw new RowFault('type_unknown', `there is no type of check named "${word.slice(0, 50)}"`);
}
