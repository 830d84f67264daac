/*
 * For tests: the messenger's HTML as its documentation describes it, and no more of it. Written from https://core.telegram.org/bots/api#html-style
 * (Bot API, "Formatting options"). Checked on 2026-11-23 against copies of that section in libraries: the tags, four named entities, all that are numbers.
 */

const plainTags: ReadonlySet<string> = new Set([
  'b',
  'strong',
  'i',
  'em',
  'u',
  'ins',
  's',
  'strike',
  'del',
  'tg-spoiler',
  'code',
  'pre',
  'blockquote',
]);
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Text without its markup. @throws Error that says as the messenger does what it cannot parse */
export function parseHtmlStyle(source: string): string {
  const open: string[] = [];
  let text = '';
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at);
    if (rest.startsWith('<')) {
      const length = tagAt(rest, at, open);
      at += length;
    } else if (rest.startsWith('&')) {
      const found = /^&(?:(lt|gt|amp|quot)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));/.exec(rest);
      if (found === null) throw new Error(`an ampersand that begins no entity at byte offset ${at}`);
      text += found[1] === undefined ? codePoint(found[2], found[3]) : (entities[found[1]] ?? '');
      at += found[0].length;
    } else if (rest.startsWith('>')) {
      throw new Error(`a greater-than sign that ends no tag at byte offset ${at}`);
    } else {
      text += rest[0] ?? '';
      at += 1;
    }
  }
  if (open.length > 0) throw new Error(`Can't find end tag corresponding to start tag "${open.at(-1)}"`);
  return text;
}

function codePoint(decimal: string | undefined, hexadecimal: string | undefined): string {
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  if (code === 0 || code > 0x10ffff) throw new Error('an entity of no character');
  return String.fromCodePoint(code);
}

/** Length of the tag at the beginning of a text. */
function tagAt(rest: string, at: number, open: string[]): number {
  const end = /^<\/([a-z-]+)>/.exec(rest);
  if (end !== null) {
    const name = open.pop();
    if (name !== end[1]) throw new Error(`Unmatched end tag at byte offset ${at}, expected "</${name ?? ''}>"`);
    return end[0].length;
  }
  const start = /^<([a-z-]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>/.exec(rest);
  if (start === null) throw new Error(`Unclosed start tag at byte offset ${at}`);
  const [whole, name = '', attributes = ''] = start;
  const isKnown =
    (plainTags.has(name) && (attributes === '' || (name === 'blockquote' && attributes === ' expandable'))) ||
    (name === 'a' && /^ href="[^"]+"$/.test(attributes)) ||
    (name === 'span' && attributes === ' class="tg-spoiler"') ||
    (name === 'code' && /^ class="language-[^"]+"$/.test(attributes) && open.at(-1) === 'pre');
  if (!isKnown) throw new Error(`Unsupported start tag "${name}" at byte offset ${at}`);
  open.push(name);
  return whole.length;
}
