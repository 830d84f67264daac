import { Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { ParsedNode } from 'yaml';
import { faultsError } from '../errors.ts';
import type { Fault, Place } from '../errors.ts';

/** Of one file, in characters; some 4,000 monitors with all their fields. */
export const mostCharacters = 4 * 1_024 * 1_024;
/** No setting of any check type is nested nearly so deeply; what reads the file works with a call for each level. */
const mostLevels = 40;

/** A YAML file as plain JSON values. */
export type YamlFile = {
  readonly data: unknown;
  /** @param path keys and indices from the top; where it is not in the file, the nearest thing around it */
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
};

/**
 * Reads YAML 1.2 (core schema) of one document. Aliases are refused, so a file cannot grow when it is read.
 * @throws AsCodeError with line and column of everything that is wrong
 */
export function readYaml(text: string, file: string): YamlFile {
  const start: Place = { file, line: 1, column: 1 };
  const refuse = (message: string): never => {
    throw faultsError([{ place: start, message }]);
  };
  if (text.length > mostCharacters) refuse(`the file has more than ${mostCharacters} characters: split it`);
  const deep = tooDeep(text);
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  if (deep !== undefined) refuse(`line ${deep} opens more than ${mostLevels} levels`);
  let parsed;
  try {
    // Keys that occur twice are looked for below: the parser compares each with each, which takes minutes for a long map.
    parsed = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
      stringKeys: true,
      schema: 'core',
      // Silent, it would pass over a second document.
      logLevel: 'error',
    });
  } catch (error) {
    // A stack that is full shows as the error of whatever is called last, regular expressions among it.
    if (!(error instanceof Error && error.message.includes('call stack'))) throw error;
    return refuse('the file is nested too deeply');
  }
  const faults: Fault[] = [...parsed.errors, ...parsed.warnings].map((wrong) => ({
    place: placeAt(wrong.pos[0]),
    message: oneLine(wrong.message),
  }));
  if (faults.length > 0) throw faultsError(faults);
  const offsets = new Map<string, number>();
  const data = plain(parsed.contents, [], offsets, (offset, message) =>
    faults.push({ place: placeAt(offset), message }),
  );
  if (faults.length > 0) throw faultsError(faults);
  const placeOf = (path: readonly PropertyKey[]): Place => {
    for (let length = path.length; length > 0; length -= 1) {
      const offset = offsets.get(keyOf(path.slice(0, length)));
      if (offset !== undefined) return placeAt(offset);
    }
    return start;
  };
  return { data, placeOf };
}

/** Text that `readYaml` reads as the same values; the same values give the same text. */
export function writeYaml(data: unknown): string {
  const document = new Document(data, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      // Line ends other than LF, and what editors do not show, would not survive a plain or block scalar.
      if (typeof node.value === 'string' && /[^\n\P{C}]|[\u0085\u2028\u2029]|\n/u.test(node.value))
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 });
}

const keyOf = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 300);

type Refuse = (offset: number, message: string) => void;

/** Records where each value stands: an entry of a map at its key. */
function plain(
  node: ParsedNode | null,
  path: readonly PropertyKey[],
  offsets: Map<string, number>,
  refuse: Refuse,
): unknown {
  if (node === null) return null;
  const at = node.range[0];
  if (path.length > mostLevels) return refuse(at, `more than ${mostLevels} levels`);
  if (isAlias(node) || node.anchor !== undefined) {
    return refuse(at, 'anchors and aliases are not taken: write the value out');
  }
  if (node.tag !== undefined)
    return refuse(at, `the tag ${node.tag.slice(0, 100)} is not taken: write the value without it`);
  const inside = (name: PropertyKey, offset: number, value: ParsedNode | null): unknown => {
    const where = [...path, name];
    offsets.set(keyOf(where), offset);
    return plain(value, where, offsets, refuse);
  };
  if (isSeq(node)) return node.items.map((item, index) => inside(index, item.range[0], item));
  if (isMap(node)) {
    const seen = new Map<string, unknown>();
    for (const { key, value } of node.items) {
      const offset = key.range[0];
      const name = isScalar(key) ? String(key.value) : '';
      if (seen.has(name)) refuse(offset, `the key "${name.slice(0, 100)}" stands here twice`);
      seen.set(name, inside(name, offset, value));
    }
    return Object.fromEntries(seen);
  }
  return scalar(node.value, at, refuse);
}

function scalar(value: unknown, at: number, refuse: Refuse): unknown {
  if (typeof value === 'string') {
    if (value.includes('\0')) refuse(at, 'a NUL is not taken');
    return value;
  }
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    refuse(at, 'the number is too large, or none: JSON has no such number');
  }
  return value;
}

/** The first line that opens far more levels than anything that is taken; brackets in texts count too, hence the distance. */
function tooDeep(text: string): number | undefined {
  let line = 1;
  let open = 0;
  for (const character of text) {
    if (character === '\n') line += 1;
    else if (character === '[' || character === '{') open += 1;
    else if ((character === ']' || character === '}') && open > 0) open -= 1;
    if (open > 1_000) return line;
  }
  return undefined;
}
