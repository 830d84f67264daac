const quote = 0x22;
const backslash = 0x5c;

/**
 * Finds members of a JSON object in one pass that builds no values: a mebibyte of tiny values would hold up the process for a second if it were parsed.
 * Only brackets and strings are looked at, so what is found must still be parsed, and what lies around it may be wrong unnoticed.
 * @returns the text of each member that there is; undefined for what is no object, is not closed, goes on behind its end, or names a member twice
 */
export function skimMembers<Name extends string>(
  text: string,
  names: readonly Name[],
): ReadonlyMap<Name, string> | undefined {
  const found = new Map<Name, string>();
  let at = text.search(/\S/);
  if (at < 0 || text[at] !== '{') return undefined;
  let depth = 0;
  let key: string | undefined;
  let valueFrom = -1;
  const endMember = (end: number): boolean => {
    const name = names.find((each) => each === key);
    if (name !== undefined && valueFrom >= 0) {
      if (found.has(name)) return false;
      found.set(name, text.slice(valueFrom, end));
    }
    key = undefined;
    valueFrom = -1;
    return true;
  };
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = stringEnd(text, at);
      if (end < 0) return undefined;
      if (depth === 1 && valueFrom < 0) key = text.slice(at + 1, end);
      at = end;
    } else if (isOpening(code)) {
      depth += 1;
    } else if (isClosing(code)) {
      if (depth === 1 && !endMember(at)) return undefined;
      depth -= 1;
      if (depth === 0) return text.slice(at + 1).trim() === '' ? found : undefined;
    } else if (depth === 1 && code === 0x3a && valueFrom < 0) {
      valueFrom = at + 1;
    } else if (depth === 1 && code === 0x2c && !endMember(at)) {
      return undefined;
    }
  }
  return undefined;
}

/** `[` and `{`. */
function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

/** `]` and `}`. */
function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

/** The place of the quote that ends the string which begins here; negative when there is none. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
