/** One hop of a path. Times are whole microseconds, in the order of the packets that were answered. */
export type Hop = {
  readonly hop: number;
  /** Who answered, each once; more than one where packets went different ways. */
  readonly addresses: readonly string[];
  readonly roundTripsUs: readonly number[];
  readonly lost: number;
  /** What a router said instead of passing on, such as `!H` (host unreachable) or `!X` (forbidden). */
  readonly refusals: readonly string[];
};

const maxHop = 255;

/**
 * A line of `traceroute -n`: the number of the hop, then for each packet `*`, or a time behind the address that answered (which is
 * written once for neighbouring packets) and perhaps a note. Undefined for headers, warnings and everything else.
 */
export function parseHop(line: string): Hop | undefined {
  const [number, ...rest] = line.trim().split(/\s+/);
  const hop = Number(number);
  if (!/^\d{1,3}$/.test(number ?? '') || hop < 1 || hop > maxHop || rest.length === 0 || rest.length > 100)
    return undefined;
  const addresses: string[] = [];
  const roundTripsUs: number[] = [];
  const refusals: string[] = [];
  let lost = 0;
  for (const [at, token] of rest.entries()) {
    if (token === '*') lost += 1;
    else if (token === 'ms') continue;
    else if (token.startsWith('!')) refusals.push(token.slice(0, 10));
    else if (rest[at + 1] === 'ms' && /^\d+(\.\d+)?$/.test(token)) roundTripsUs.push(Math.round(Number(token) * 1000));
    else if (/^[0-9a-f:.]{2,45}$/i.test(token)) {
      if (!addresses.includes(token)) addresses.push(token);
    } else return undefined;
  }
  return { hop, addresses, roundTripsUs, lost, refusals };
}

/** Percent of the packets of one hop that nobody answered. */
export function lossPercent({ roundTripsUs, lost }: Hop): number {
  const sent = roundTripsUs.length + lost;
  return sent === 0 ? 100 : Math.round((lost / sent) * 1000) / 10;
}

/** Mean round trip in whole microseconds; undefined when nothing was answered. */
export function averageUs({ roundTripsUs }: Hop): number | undefined {
  if (roundTripsUs.length === 0) return undefined;
  return Math.round(roundTripsUs.reduce((sum, each) => sum + each, 0) / roundTripsUs.length);
}

/** A hop for a person, for example `3 10.0.0.1 1.20 ms, 33.3 % lost`. `shown` hides addresses that are nobody's business. */
export function describeHop(found: Hop, shown: (address: string) => string): string {
  const average = averageUs(found);
  const who = [...new Set(found.addresses.map(shown))].join(' ') || '*';
  const time = average === undefined ? '' : ` ${(average / 1000).toFixed(2)} ms`;
  const loss = lossPercent(found) === 0 ? '' : `, ${lossPercent(found)} % lost`;
  const notes = [...new Set(found.refusals)].join(' ');
  return `${found.hop} ${who}${time}${loss}${notes === '' ? '' : ` ${notes}`}`.slice(0, 500);
}
