/**
 * Value of `Content-Disposition` for a file that is to be saved under a name (RFC 6266): in ASCII for clients that know no more, and in
 * Unicode (RFC 8187) where that differs.
 * @param name any text; what may not stand in a file name is replaced
 */
export function attachment(name: string): string {
  const clean = fileName(name);
  // Once more without what may not stand in a name: a full-width quotation mark becomes a plain one.
  const ascii = clean
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(notInNames, '-')
    .replaceAll(/[^\x20-\x7e]+/g, '_');
  const plain = `attachment; filename="${ascii}"`;
  return ascii === clean ? plain : `${plain}; filename*=UTF-8''${extendedValue(clean)}`;
}

/** Path separators, quotes, wildcards; control and format characters, among them those that turn the direction of text. */
const notInNames = /[/\\:*?"<>|%\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;
const maxCharacters = 150;

/** A text as the name of a file on any system. */
export function fileName(text: string): string {
  const extension = /\.[a-z0-9]{1,8}$/.exec(text)?.[0] ?? '';
  const stem = text
    .slice(0, text.length - extension.length)
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(notInNames, '-')
    .replaceAll(/\s+/g, ' ');
  const cut = Array.from(stem).slice(0, maxCharacters).join('');
  return (cut.replaceAll(/^[. ]+|[. ]+$/g, '') || 'file') + extension;
}

function extendedValue(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
