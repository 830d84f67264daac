/** What XML cannot hold, what nobody sees, and what turns the direction of the text around it (Unicode, UAX #9). */
const invisible =
  // oxlint-disable-next-line no-control-regex -- these are the ones that are taken out
  /[\0-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\uffff]/g;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

const maxCharacters = 40;

/** A text that somebody else wrote, as a badge shows it: on one line, without what cannot be seen, and cut. */
export function shownText(text: string): string {
  // More is never shown, whatever is taken out of it.
  const plain = text
    .slice(0, 500)
    .toWellFormed()
    .replaceAll(/[\t-\r\x85\u2028\u2029]/g, ' ')
    .replaceAll(invisible, '')
    .normalize('NFC')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const characters = Array.from(plain.replaceAll(/(\p{M}{3})\p{M}+/gu, '$1'));
  return characters.length <= maxCharacters
    ? characters.join('')
    : `${characters
        .slice(0, maxCharacters - 1)
        .join('')
        .trimEnd()}…`;
}

/** For text and quoted attributes of XML. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (each) => escapes[each] ?? each);
}
