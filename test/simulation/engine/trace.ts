/** What happened in a world, as a hash over everything and the text of what came last. */
export type Trace = {
  /** Notes something. The numbers and the word go into the hash; the text is made only when somebody reads it. */
  readonly note: (atUs: number, what: string, ...details: readonly (number | string)[]) => void;
  /** Eight hexadecimal digits over all that was noted. */
  readonly hash: () => string;
  /** How much was noted. */
  readonly count: () => number;
  /** The last notes as lines, oldest first. */
  readonly tail: () => string[];
};

const kept = 400;

/** @param onLine called with each note as it is made, for whoever watches */
export function createTrace(originUs: number, onLine?: (line: string) => void): Trace {
  let first = 0x811c9dc5;
  let second = 0x1b873593;
  let count = 0;
  const ring: (readonly [number, string, readonly (number | string)[]])[] = [];

  function take(value: number): void {
    first = Math.imul(first ^ (value & 0xffff), 0x01000193);
    first = Math.imul(first ^ ((value >>> 16) & 0xffff), 0x01000193);
    second = Math.imul((second ^ value) + 0x52dce729, 0x85ebca6b);
    second ^= second >>> 15;
  }

  function takeNumber(value: number): void {
    take(value | 0);
    if (value > 0x7fffffff || value < -0x80000000) take(Math.floor(value / 2 ** 32));
  }

  function takeText(text: string): void {
    for (let at = 0; at < text.length; at += 1) take(text.charCodeAt(at));
  }

  const line = ([atUs, what, details]: readonly [number, string, readonly (number | string)[]]): string =>
    `${((atUs - originUs) / 1_000_000).toFixed(6).padStart(12)} ${what} ${details.join(' ')}`;

  return {
    note: (atUs, what, ...details) => {
      count += 1;
      takeNumber(atUs);
      takeText(what);
      for (const detail of details) {
        if (typeof detail === 'number') takeNumber(detail);
        else takeText(detail);
      }
      ring[count % kept] = [atUs, what, details];
      onLine?.(line([atUs, what, details]));
    },
    hash: () => [first, second].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join(''),
    count: () => count,
    tail: () =>
      Array.from(
        { length: Math.min(kept, count) },
        (_, index) => ring[(count - Math.min(kept, count) + index + 1) % kept],
      )
        .filter((note) => note !== undefined)
        .map(line),
  };
}
