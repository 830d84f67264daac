const candidates = [',', ';', '\t'] as const;
/** What separates the cells of a file. */
export type Delimiter = (typeof candidates)[number];

/**
 * The delimiter of a file: the one that its first record holds most often outside of quotes, a comma where there is none. The line `sep=;`,
 * which Excel understands, says it outright.
 * @returns the delimiter, and where the first record begins
 */
export function delimiterOf(text: string): { readonly delimiter: Delimiter; readonly start: number } {
  const said = /^sep=([,;\t])\r?\n/i.exec(text);
  const named = candidates.find((candidate) => candidate === said?.[1]);
  if (said !== null && named !== undefined) return { delimiter: named, start: said[0].length };
  const start = /^\s*/.exec(text)?.[0].length ?? 0;
  const counts = new Map<string, number>();
  let isQuoted = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === '\n' || character === '\r') break;
    else counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const count = (candidate: Delimiter) => counts.get(candidate) ?? 0;
  const best = candidates.reduce<Delimiter>((most, each) => (count(each) > count(most) ? each : most), ',');
  return { delimiter: best, start: 0 };
}
