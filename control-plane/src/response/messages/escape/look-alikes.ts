/** Breaks what a service would read as one token, and shows nothing. */
export const zeroWidth = '\u200b';

const likes: Readonly<Record<string, string>> = {
  '*': '\u2217', // asterisk operator
  _: '\u02cd', // modifier letter low macron
  '~': '\u223c', // tilde operator
  '`': '\u02cb', // modifier letter grave accent
};

/**
 * Marks of emphasis as characters that look like them, for markups that know no escape. What stands between two letters or digits stays, so that
 * `app_pool_01` can be searched for, where `keepsWithinWords` names the mark.
 */
export function withLookAlikes(text: string, keepsWithinWords: string): string {
  return text.replaceAll(/[*_~`]/gu, (mark, index: number) => {
    const isWithin = isWordAt(text, index - 1) && isWordAt(text, index + 1);
    return isWithin && keepsWithinWords.includes(mark) ? mark : (likes[mark] ?? mark);
  });
}

function isWordAt(text: string, index: number): boolean {
  return /[\p{L}\p{N}]/u.test(text.charAt(index));
}

/** Marks that begin a list, a heading or a quotation are not the first thing in their line any more. */
export function withoutBlocks(text: string): string {
  return text.replaceAll(/^(?=\s*(?:[-+*>#|/]|\d{1,9}[.)]\s))/gmu, zeroWidth);
}
