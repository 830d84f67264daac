/** What XML 1.0 cannot hold, not even escaped: most control characters, lone surrogates, and two that are no characters. */
// oxlint-disable-next-line no-control-regex
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

const named: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as it may stand in XML and in HTML, between tags and in quoted attributes. Line ends become `\n`, as every reader of XML makes them. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(forbidden, '')
    .replaceAll(/[&<>"']/g, (character) => named[character] ?? '');
}

/** Marked-up text that needs no escaping. */
export type Markup = { readonly markup: string };

/**
 * An element of XML.
 * @param name and names of attributes are ours
 * @param content a text, or elements
 */
export function element(
  name: string,
  attributes: Readonly<Record<string, string>>,
  content?: string | readonly Markup[],
): Markup {
  const start = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escapeMarkup(value)}"`)];
  if (content === undefined) return { markup: `<${start.join(' ')}/>` };
  const inner = typeof content === 'string' ? escapeMarkup(content) : content.map(({ markup }) => markup).join('');
  return { markup: `<${start.join(' ')}>${inner}</${name}>` };
}

export function xmlDocument(root: Markup): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n${root.markup}\n`;
}

/** Text that people wrote, in paragraphs and lines of HTML. Nothing in it is read as markup. */
export function paragraphs(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n{2,}/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => `<p>${escapeMarkup(paragraph.trim()).replaceAll('\n', '<br>')}</p>`)
    .join('');
}
