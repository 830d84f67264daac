/** What the list is tried on: monitors in all states, made from a seed. */

export const outcomes = ['ok', 'slow', 'warn', 'fail', 'timeout', 'skipped'] as const;
export const statuses = ['UP', 'DOWN', 'TIMEOUT', 'DEGRADED', 'PARTIAL', 'WARNING', 'UNKNOWN'] as const;

export type MadeResult = {
  readonly atS: number;
  readonly probeId: number;
  readonly outcome: (typeof outcomes)[number];
  readonly isManual: boolean;
  readonly isFallback: boolean;
  readonly totalUs: number;
};

/** Seconds before now; whole ones, so that sums are exact. */
export type MadeRange = {
  readonly fromS: number;
  readonly toS: number;
  readonly status: 'UP' | 'DOWN' | 'TIMEOUT' | 'DEGRADED';
};

export type MadeMonitor = {
  readonly workspace: number;
  readonly name: string;
  readonly url: string;
  readonly protocol: string;
  readonly status: (typeof statuses)[number];
  readonly isActive: boolean;
  readonly isPausedByGroup: boolean;
  readonly isDeleted: boolean;
  readonly position: number | null;
  readonly tags: readonly string[];
  /** Seconds before now of the last reset. */
  readonly resetS: number | null;
  /** Oldest first. */
  readonly results: readonly MadeResult[];
  /** When the probe of the last result was down by its own timeline. */
  readonly probeRange: MadeRange | null;
  readonly ranges: readonly MadeRange[];
};

/** Words with what means something in patterns, in quotes, in other scripts, and in letters of several cases. */
const words = [
  'Shop',
  'shop',
  'SHOP',
  'snake_case',
  'snakeXcase',
  '100% done',
  '100 done',
  "O'Brien",
  'O"Brien',
  'back\\slash',
  'back/slash',
  'Über',
  'uber',
  'ÜBER',
  'Straße',
  'STRASSE',
  'Привет',
  'ПРИВЕТ',
  '日本',
  'ΟΔΟΣ',
  'İstanbul',
  'é',
  'e',
  'É',
  'a',
  'B',
  'ä',
  'Z',
  '10',
  '9',
  '-',
  '(x)',
];

const tagNames = ['a', 'b', 'prod', 'Prod', 'été', 'x%'];
const protocols = ['https', 'http', 'tcp', 'dnsbl', 'icmp'];

/** Texts that are searched for. */
export const searches: readonly string[] = [
  '',
  '%',
  '_',
  "'",
  '"',
  '\\',
  '100%',
  'e_c',
  'shop',
  'SHOP',
  'ü',
  'ÜBER',
  'é',
  'e\u0301',
  'straße',
  'STRASSE',
  'ß',
  'привет',
  '日',
  'οδος',
  'Σ',
  'İ',
  'i',
  'example',
  'EXAMPLE/A',
  'https://',
  '?q=',
  "' or '1'='1",
  '%%',
  '\\%',
  'nothing like it',
  ' ',
];

/** Numbers in [0, 1) from a seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Monitors of several workspaces: the first two are of one owner, so names are unique over both of them.
 * @param ownerOf number of the owner by workspace
 */
export function makeMonitors(count: number, seed: number, ownerOf: readonly number[]): MadeMonitor[] {
  const next = random(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const isOne = (share: number): boolean => next() < share;
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const taken = new Set<string>();
  return Array.from({ length: count }, (_, index): MadeMonitor => {
    const workspace = below(ownerOf.length);
    const isDeleted = isOne(0.05);
    const word = isOne(0.3) ? pick(words) : `${pick(words)} ${pick(words)}`;
    const key = `${ownerOf[workspace]} ${word}`;
    const name = !isDeleted && taken.has(key) ? `${word} ${index}` : word;
    if (!isDeleted) taken.add(`${ownerOf[workspace]} ${name}`);
    const resetS = isOne(0.1) ? below(20) * 3_600 + 1_800 : null;
    return {
      workspace,
      name,
      url: pick([
        'https://example.com/a?q=1%20_',
        'https://Example.COM/A',
        `tcp://h${index % 7}:1`,
        'https://x/\\',
        "https://y/'",
      ]),
      protocol: pick(protocols),
      status: pick(statuses),
      isActive: isOne(0.85),
      isPausedByGroup: isOne(0.1),
      isDeleted,
      // Few numbers, so that some stand twice, as after a move of old.
      position: isOne(0.5) ? below(200) : null,
      tags: tagNames.filter(() => isOne(0.3)),
      resetS,
      results: makeResults(below, isOne),
      probeRange: isOne(0.3)
        ? { fromS: 40_000, toS: isOne(0.5) ? 0 : 30_000, status: pick(['DOWN', 'TIMEOUT', 'DEGRADED']) }
        : null,
      ranges: makeRanges(below, isOne),
    };
  });
}

function makeResults(below: (limit: number) => number, isOne: (share: number) => boolean): MadeResult[] {
  const times = new Set(Array.from({ length: below(4) }, () => 60 + below(80_000)));
  return [...times]
    .toSorted((a, b) => b - a)
    .map((atS) => ({
      atS,
      probeId: 1 + below(2),
      outcome: outcomes[below(outcomes.length)] ?? 'ok',
      isManual: isOne(0.15),
      isFallback: isOne(0.1),
      // Few values, so that there are ties.
      totalUs: 1_000 * (1 + below(40)) + (isOne(0.2) ? 1 : 0),
    }));
}

/** Ranges that lie wholly within the last day but for its edges, so that nothing of them runs out while they are looked at. */
function makeRanges(below: (limit: number) => number, isOne: (share: number) => boolean): MadeRange[] {
  const ranges: MadeRange[] = [];
  let atS = 82_800;
  for (let left = below(4); left > 0 && atS > 10_000; left -= 1) {
    const toS = Math.max(7_200, atS - 3_600 * (1 + below(4)));
    ranges.push({ fromS: atS, toS, status: (['UP', 'UP', 'DOWN', 'TIMEOUT', 'DEGRADED'] as const)[below(5)] ?? 'UP' });
    atS = toS - (isOne(0.3) ? 1_800 : 0);
  }
  return ranges;
}
