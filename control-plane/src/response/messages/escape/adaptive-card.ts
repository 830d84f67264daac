const zeroWidth = '\u200b';

/**
 * For the text of a TextBlock in an Adaptive Card, which knows bold, italics, lists and links (`[text](url)`), and date functions (`{{DATE(…)}}`). A backslash
 * escapes; it is shown by some clients, so what has a harmless look-alike in place is broken by a zero-width space instead.
 */
export function escapeAdaptiveCard(text: string): string {
  return text
    .replaceAll(/[*_`]/gu, (mark) => `\\${mark}`)
    .replaceAll('](', `]${zeroWidth}(`)
    .replaceAll('{{', `{${zeroWidth}{`)
    .replaceAll('${', `$${zeroWidth}{`)
    .replaceAll(/^(\s*)([-+]|\d{1,9}[.)])(?=\s)/gmu, `$1${zeroWidth}$2`)
    .replaceAll(/<(?=at>|\/at>)/giu, `<${zeroWidth}`);
}
