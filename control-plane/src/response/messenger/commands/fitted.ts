import type { Others } from '../words/words.ts';

/** What one message of the messenger holds, counted after its markup was read. */
const mostCharacters = 4_096;

/** What is told of one workspace. */
type Part = { readonly others: readonly Others[] };

/**
 * Tells of workspaces in one message: monitors always, the names of others as long as there is room for all of it, then their counts, then nothing.
 */
export function fitted<Each extends Part>(parts: readonly Each[], render: (part: Each) => string): string {
  const told = (othersOf: (part: Each) => readonly Others[]): string =>
    parts.map((part) => render({ ...part, others: othersOf(part) })).join('\n\n');
  const ways = [
    told(({ others }) => others),
    told(({ others }) => others.map((each) => ({ ...each, listed: [] }))),
    told(() => []),
  ];
  return ways.find((text) => lengthShown(text) <= mostCharacters) ?? ways.at(-1) ?? '';
}

const lengthShown = (html: string): number => html.replaceAll(/<[^>]*>/g, '').replaceAll(/&[a-z]+;/g, 'x').length;
