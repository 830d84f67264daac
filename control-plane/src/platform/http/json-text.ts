import { Problem } from '@parallax/api-contract';
import type { InputPath } from '@parallax/api-contract';

/** Limits of a JSON text; numbers of levels, of which `[]` is one. */
export type JsonLimits = { readonly maxDepth: number };

/** Why a text was refused, for the `code` of an input error. */
type Fault =
  | 'syntax'
  | 'too_deep'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'nul_character'
  | 'lone_surrogate'
  | 'number_out_of_range';

// A string without escapes, control characters or surrogates: nearly every string, taken at once.
const plainString = /"([^"\\\p{Cc}\p{Cs}]*)"/uy;
const numberToken = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Reads one JSON text (RFC 8259) more strictly than `JSON.parse`: keys may not repeat (RFC 7493), nor be `__proto__`, nor be
 * `prototype` below `constructor`; strings hold neither NUL nor lone surrogates, which PostgreSQL cannot store; numbers are
 * finite; and nesting is bounded, so that no text exhausts the stack.
 * @throws Problem `invalid_json` with the place as a JSON pointer
 */
export function parseJson(text: string, limits: JsonLimits): unknown {
  const reader = new Reader(text, limits.maxDepth);
  return reader.document();
}

class Reader {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, maxDepth: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
  }

  document(): unknown {
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail('syntax', 'something follows the end of the JSON text');
    return value;
  }

  #value(): unknown {
    this.#space();
    const character = this.#text[this.#at];
    switch (character) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      case undefined:
        return this.#fail('syntax', 'the text ends where a value is expected');
      default:
        return this.#number();
    }
  }

  #object(): Record<string, unknown> {
    this.#descend();
    const object: Record<string, unknown> = {};
    if (this.#next('}')) return object;
    do {
      this.#space();
      if (this.#text[this.#at] !== '"') this.#fail('syntax', 'a key in double quotes is expected');
      const key = this.#string();
      this.#path.push(key);
      if (Object.hasOwn(object, key)) this.#fail('duplicate_key', 'the key stands twice in one object');
      if (key === '__proto__' || (key === 'prototype' && this.#path.at(-2) === 'constructor')) {
        this.#fail('forbidden_key', 'this key is not allowed');
      }
      if (!this.#next(':')) this.#fail('syntax', 'a colon is expected');
      object[key] = this.#value();
      this.#path.pop();
    } while (this.#next(','));
    if (!this.#next('}')) this.#fail('syntax', 'a comma or a closing brace is expected');
    return object;
  }

  #array(): unknown[] {
    this.#descend();
    const array: unknown[] = [];
    if (this.#next(']')) return array;
    do {
      this.#path.push(array.length);
      array.push(this.#value());
      this.#path.pop();
    } while (this.#next(','));
    if (!this.#next(']')) this.#fail('syntax', 'a comma or a closing bracket is expected');
    return array;
  }

  /** Steps over the opening bracket; the path is as long as the number of levels above. */
  #descend(): void {
    this.#at += 1;
    if (this.#path.length >= this.#maxDepth) this.#fail('too_deep', `more than ${this.#maxDepth} levels`);
  }

  #string(): string {
    plainString.lastIndex = this.#at;
    const plain = plainString.exec(this.#text);
    if (plain !== null) {
      this.#at = plainString.lastIndex;
      return plain[1] ?? '';
    }
    return this.#slowString();
  }

  #slowString(): string {
    let result = '';
    let from = this.#at + 1;
    for (let at = from; ; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (Number.isNaN(code)) return this.#fail('syntax', 'the text ends within a string');
      if (code < 0x20) return this.#fail('syntax', 'control characters in strings must be escaped');
      if (code === 0x22) {
        result += this.#text.slice(from, at);
        this.#at = at + 1;
        return this.#storable(result);
      }
      if (code !== 0x5c) continue;
      result += this.#text.slice(from, at);
      const [character, length] = this.#escape(at + 1);
      result += character;
      at += length;
      from = at + 1;
    }
  }

  /** The character that an escape stands for, and the number of characters after the backslash. */
  #escape(at: number): [string, number] {
    const letter = this.#text[at] ?? '';
    if (letter === 'u') {
      const digits = this.#text.slice(at + 1, at + 5);
      if (/^[0-9a-fA-F]{4}$/.test(digits)) return [String.fromCharCode(Number.parseInt(digits, 16)), 5];
    }
    const character = escapes[letter];
    if (character === undefined) return this.#fail('syntax', 'this escape is not known');
    return [character, 1];
  }

  #storable(text: string): string {
    if (text.includes('\u0000')) return this.#fail('nul_character', 'NUL is not allowed in strings');
    if (!text.isWellFormed()) return this.#fail('lone_surrogate', 'half of a surrogate pair is not a character');
    return text;
  }

  #number(): number {
    numberToken.lastIndex = this.#at;
    const token = numberToken.exec(this.#text);
    if (token === null) return this.#fail('syntax', 'a value is expected');
    const number = Number(token[0]);
    if (!Number.isFinite(number)) return this.#fail('number_out_of_range', 'the number is too large');
    this.#at = numberToken.lastIndex;
    return number;
  }

  #word<Value>(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) return this.#fail('syntax', 'a value is expected');
    this.#at += word.length;
    return value;
  }

  /** Steps over one character when it comes next. */
  #next(character: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #fail(fault: Fault, message: string): never {
    const path = jsonPointer(this.#path);
    throw new Problem('invalid_json', `the body is not valid JSON at character ${this.#at}: ${message}`, {
      errors: [{ in: 'body', path, code: fault, message }],
    });
  }
}

/** A path as a JSON pointer (RFC 6901); keys longer than 100 characters are cut, as they come from outside. */
export function jsonPointer(path: readonly PropertyKey[]): InputPath {
  const parts = path.map(
    (part) => `/${String(part).slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}` as const,
  );
  return parts.join('') as InputPath;
}
