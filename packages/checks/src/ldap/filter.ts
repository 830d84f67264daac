import { ber, berTags } from '../net/ber.ts';

const maxDepth = 16;
/** An attribute description: a name or an object identifier, with options. RFC 4512, section 2.5. */
const attribute = /^(?:[a-zA-Z][a-zA-Z0-9-]*|\d+(?:\.\d+)*)(?:;[a-zA-Z0-9-]+)*$/;

/** What is wrong with a filter, at which character. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

/**
 * Encodes a search filter (RFC 4515) as RFC 4511 has it on the wire. And, or, not, equality, presence, substrings, the two orders and the
 * approximate match; no extensible match. Throws `FilterError`.
 */
export function encodeFilter(text: string): Buffer {
  const parser = { text, at: 0 };
  const encoded = readFilter(parser, 0);
  if (parser.at !== text.length)
    throw new FilterError(`Something stands behind the filter, at character ${parser.at}.`);
  return encoded;
}

/** What is wrong with a filter, or undefined. */
export function filterProblem(text: string): string | undefined {
  try {
    encodeFilter(text);
    return undefined;
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
}

type Parser = { readonly text: string; at: number };

function readFilter(parser: Parser, depth: number): Buffer {
  if (depth > maxDepth) throw new FilterError(`A filter is at most ${maxDepth} levels deep.`);
  expect(parser, '(');
  const kind = parser.text[parser.at];
  let encoded: Buffer;
  if (kind === '&' || kind === '|') {
    parser.at += 1;
    const parts: Buffer[] = [];
    while (parser.text[parser.at] === '(') parts.push(readFilter(parser, depth + 1));
    encoded = ber(kind === '&' ? 0xa0 : 0xa1, ...parts);
  } else if (kind === '!') {
    parser.at += 1;
    encoded = ber(0xa2, readFilter(parser, depth + 1));
  } else {
    const end = parser.text.indexOf(')', parser.at);
    if (end < 0) throw new FilterError('A closing bracket is missing in the filter.');
    encoded = readItem(parser.text.slice(parser.at, end));
    parser.at = end;
  }
  expect(parser, ')');
  return encoded;
}

function expect(parser: Parser, character: string): void {
  if (parser.text[parser.at] !== character)
    throw new FilterError(`A "${character}" is missing in the filter, at character ${parser.at}.`);
  parser.at += 1;
}

function readItem(item: string): Buffer {
  const match = /^([^=<>~()]+)(=|>=|<=|~=)([^(]*)$/.exec(item);
  const [, name = '', relation, value = ''] = match ?? [];
  if (!attribute.test(name)) throw new FilterError(`"${item.slice(0, 50)}" is no comparison such as name=value.`);
  if (relation === '>=') return compare(0xa5, name, value);
  if (relation === '<=') return compare(0xa6, name, value);
  if (relation === '~=') return compare(0xa8, name, value);
  if (value === '*') return ber(0x87, name);
  const pieces = value.split('*');
  if (pieces.length === 1) return compare(0xa3, name, value);
  const substrings = pieces
    .map((piece, index) => ({ piece, tag: index === 0 ? 0x80 : index === pieces.length - 1 ? 0x82 : 0x81 }))
    .filter(({ piece }) => piece !== '')
    .map(({ piece, tag }) => ber(tag, unescaped(piece)));
  if (substrings.length === 0) throw new FilterError('A pattern in a filter needs more than stars.');
  return ber(0xa4, ber(berTags.octetString, name), ber(berTags.sequence, ...substrings));
}

function compare(tag: number, name: string, value: string): Buffer {
  if (value.includes('*')) throw new FilterError('A star is written as \\2a in an ordered comparison.');
  return ber(tag, ber(berTags.octetString, name), ber(berTags.octetString, unescaped(value)));
}

function unescaped(value: string): Buffer {
  if (/\\(?![0-9a-fA-F]{2})/.test(value)) throw new FilterError('A backslash is followed by two hexadecimal digits.');
  return Buffer.concat(
    value
      .split(/(\\[0-9a-fA-F]{2})/)
      .map((part) => (/^\\[0-9a-fA-F]{2}$/.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part, 'utf8'))),
  );
}
