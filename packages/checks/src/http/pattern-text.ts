import { RE2JS } from 're2js';

/** What the text of a pattern tells: that it is none, or how large its program can become. */
export type PatternText =
  | { readonly isPattern: false }
  | {
      readonly isPattern: true;
      // The document of the check types takes each JSDoc comment before a field for that of a setting.
      // At least as many as the compiled program has.
      readonly steps: number;
      // What its compilation takes, in steps. Repetitions copy steps; a class is read once, and a large one takes long.
      readonly weight: number;
    };

/** Longest text of a pattern. */
export const maxPatternCharacters = 256;

const maxRepetitions = 1000;
/** Measured with re2js 2.10: a step takes some 2 µs, a Unicode class 30 to 60, and up to 150 where case is ignored. */
const unicodeClassWeight = 24;
const foldedClassWeight = 64;
/** A range of a class is folded character by character, some 32 ns each, within the bounds of what has another case. */
const foldedPerStep = 64;
const foldable = { from: 0x41, to: 0x1e943 };

/** A part of a pattern. `need` is the product of its nested repetitions, which RE2 bounds. */
type Part = { readonly steps: number; readonly need: number; readonly isOneCharacter: boolean };
/** What stands between two parentheses so far. */
type Group = {
  readonly isCapture: boolean;
  readonly folds: boolean;
  /** Finished alternatives. */
  readonly branches: Part[];
  /** Parts of the present alternative. */
  parts: Part[];
};

class NotAPattern extends Error {}

// Sticky, so that each is tried at its place only and no rest of the text is copied.
const counted = /\{(0|[1-9]\d*)(,?)(0|[1-9]\d*)?\}/y;
const named = /\(\?P?<(\w+)>/y;
const flags = /\(\?([imsU]*)(?:-([imsU]+))?([:)])/y;
const unicodeClass = /\\[pP](?:\{\^?([^}]*)\}|([^{]))/uy;
const escape =
  /\\(?:([1-7][0-7]{1,2}|0[0-7]{0,2})|x\{([\dA-Fa-f]+)\}|x([\dA-Fa-f]{2})|([afnrtv])|([^\dA-Za-z\u0080-\uffff]))/y;

const character: Part = { steps: 1, need: 0, isOneCharacter: true };
const assertion: Part = { steps: 1, need: 0, isOneCharacter: false };
const asciiClasses: ReadonlySet<string> = new Set(
  'alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit'.split(' '),
);
/** Names of Unicode classes that the engine knows. Names that it does not know are not kept, so this cannot grow. */
const knownClasses = new Set<string>();

/**
 * Reads the text of a pattern of RE2 without compiling it, in time that grows with its length alone. A hostile pattern of 250 characters makes a
 * program of a hundred thousand steps, which takes megabytes and a tenth of a second to build before its size is known.
 */
export function readPattern(pattern: string, ignoreCase: boolean): PatternText {
  if (pattern.length > maxPatternCharacters) return { isPattern: false };
  try {
    return { isPattern: true, ...new Reader(pattern, ignoreCase).read() };
  } catch (error) {
    if (error instanceof NotAPattern) return { isPattern: false };
    throw error;
  }
}

/** Follows the syntax of RE2 (https://github.com/google/re2/wiki/Syntax), as far as re2js takes it without flags. */
class Reader {
  readonly #text: string;
  readonly #outer: Group[] = [];
  readonly #names = new Set<string>();
  #group: Group;
  #folds: boolean;
  #at = 0;
  #classWeight = 0;

  constructor(text: string, folds: boolean) {
    this.#text = text;
    this.#folds = folds;
    this.#group = { isCapture: false, folds, branches: [], parts: [] };
  }

  read(): { readonly steps: number; readonly weight: number } {
    let isAfterRepetition = false;
    while (this.#at < this.#text.length) isAfterRepetition = this.#token(isAfterRepetition);
    if (this.#outer.length > 0) throw new NotAPattern();
    // Each program ends with a match and has a place for failure.
    const steps = closed(this.#group).steps + 2;
    return { steps, weight: steps + this.#classWeight };
  }

  /** Reads one token. @returns whether it was a repetition: two in a row are refused */
  #token(isAfterRepetition: boolean): boolean {
    const next = this.#text.charAt(this.#at);
    const repetition = next === '{' ? this.#counted() : this.#uncounted();
    if (repetition !== undefined) {
      if (isAfterRepetition) throw new NotAPattern();
      this.#repeat(repetition);
      return true;
    }
    switch (next) {
      case '(':
        this.#open();
        break;
      case ')':
        this.#close();
        break;
      case '|':
        this.#at += 1;
        this.#group.branches.push(joined(this.#group.parts));
        this.#group.parts = [];
        break;
      case '[':
        this.#class();
        break;
      case '\\':
        this.#backslash();
        break;
      default:
        this.#pop();
        this.#group.parts.push(next === '^' || next === '$' ? assertion : character);
    }
    return false;
  }

  #uncounted(): Repetition | undefined {
    const next = this.#text[this.#at];
    if (next !== '*' && next !== '+' && next !== '?') return undefined;
    this.#at += 1;
    return { min: next === '+' ? 1 : 0, max: next === '?' ? 1 : undefined, isCounted: false };
  }

  /** A brace that begins no repetition is a character. */
  #counted(): Repetition | undefined {
    const found = this.#find(counted);
    if (found === null || (found[2] === '' && found[3] !== undefined)) return undefined;
    this.#at += found[0].length;
    const min = Number(found[1]);
    const max = found[3] !== undefined ? Number(found[3]) : found[2] === '' ? min : undefined;
    if (min > maxRepetitions || (max !== undefined && (max > maxRepetitions || min > max))) throw new NotAPattern();
    return { min, max, isCounted: true };
  }

  #repeat(repetition: Repetition): void {
    if (this.#text[this.#at] === '?') this.#at += 1;
    const { parts } = this.#group;
    const part = parts.pop();
    if (part === undefined) throw new NotAPattern();
    const made = repeated(part, repetition);
    const isNested = repetition.isCounted && Math.max(repetition.min, repetition.max ?? 0) >= 2;
    if (isNested && made.need > maxRepetitions) throw new NotAPattern();
    parts.push(made);
  }

  #open(): void {
    const found = this.#find(named);
    if (found === null && this.#text[this.#at + 1] === '?') return this.#flags();
    const [all, name] = found ?? ['('];
    if (name !== undefined && this.#names.has(name)) throw new NotAPattern();
    if (name !== undefined) this.#names.add(name);
    this.#at += all.length;
    this.#push(true);
  }

  /** `(?i)` holds to the end of its group, `(?i:…)` inside its own. */
  #flags(): void {
    const found = this.#find(flags);
    if (found === null) throw new NotAPattern();
    const [all, on = '', off = '', end] = found;
    this.#at += all.length;
    const folds = (this.#folds || on.includes('i')) && !off.includes('i');
    if (end === ':') this.#push(false);
    this.#folds = folds;
  }

  #push(isCapture: boolean): void {
    this.#outer.push(this.#group);
    this.#group = { isCapture, folds: this.#folds, branches: [], parts: [] };
  }

  #close(): void {
    this.#at += 1;
    const outer = this.#outer.pop();
    if (outer === undefined) throw new NotAPattern();
    const part = closed(this.#group);
    this.#folds = this.#group.folds;
    outer.parts.push(this.#group.isCapture ? { ...part, steps: part.steps + 2, isOneCharacter: false } : part);
    this.#group = outer;
  }

  #backslash(): void {
    const next = this.#text[this.#at + 1];
    if (next === 'Q') return this.#quoted();
    if (next !== undefined && 'AbBz'.includes(next)) {
      this.#at += 2;
      this.#group.parts.push(assertion);
      return;
    }
    if (!this.#unicodeClass() && !this.#letterClass()) this.#escape();
    this.#group.parts.push(character);
  }

  /** What stands between `\Q` and `\E` are characters. */
  #quoted(): void {
    const from = this.#at + 2;
    const end = this.#text.indexOf('\\E', from);
    const quoted = end < 0 ? this.#text.slice(from) : this.#text.slice(from, end);
    this.#at = end < 0 ? this.#text.length : end + 2;
    for (const _each of quoted) this.#group.parts.push(character);
  }

  #class(): void {
    this.#at += 1;
    if (this.#text[this.#at] === '^') this.#at += 1;
    // A bracket that comes first does not end the class.
    for (let isFirst = true; isFirst || this.#text[this.#at] !== ']'; isFirst = false) {
      if (this.#asciiClass() || this.#unicodeClass() || this.#letterClass()) continue;
      const from = this.#member();
      const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']';
      if (isRange && this.#at + 1 < this.#text.length) this.#at += 1;
      const to = isRange ? this.#member() : from;
      if (to < from) throw new NotAPattern();
      if (this.#folds) this.#classWeight += foldingOf(from, to);
    }
    this.#at += 1;
    this.#group.parts.push(character);
  }

  #member(): number {
    if (this.#at >= this.#text.length) throw new NotAPattern();
    return this.#text[this.#at] === '\\' ? this.#escape() : this.#pop();
  }

  /** `[:alpha:]`, inside a class only. */
  #asciiClass(): boolean {
    if (!this.#text.startsWith('[:', this.#at)) return false;
    const end = this.#text.indexOf(':]', this.#at);
    if (end < 0) return false;
    if (!asciiClasses.has(this.#text.slice(this.#at + 2, end).replace(/^\^/, ''))) throw new NotAPattern();
    this.#at = end + 2;
    return true;
  }

  /** `\d`, `\W` and the like. */
  #letterClass(): boolean {
    const next = this.#text[this.#at] === '\\' ? this.#text[this.#at + 1] : undefined;
    if (next === undefined || !'dDsSwW'.includes(next)) return false;
    this.#at += 2;
    return true;
  }

  /** `\pL`, `\p{Greek}` and what they are not. */
  #unicodeClass(): boolean {
    const found = this.#text[this.#at] === '\\' ? this.#find(unicodeClass) : null;
    if (found === null) return false;
    if (!isClassName(found[1] ?? found[2] ?? '')) throw new NotAPattern();
    this.#at += found[0].length;
    this.#classWeight += this.#folds ? foldedClassWeight : unicodeClassWeight;
    return true;
  }

  /** The character that an escape stands for. */
  #escape(): number {
    const found = this.#find(escape);
    if (found === null) throw new NotAPattern();
    const [all, octal, braced, hex, control, itself] = found;
    this.#at += all.length;
    if (octal !== undefined) return Number.parseInt(octal, 8);
    const code = Number.parseInt(braced ?? hex ?? '0', 16);
    if (code > 0x10ffff) throw new NotAPattern();
    if (control !== undefined) return '\u0007\f\n\r\t\v'.charCodeAt('afnrtv'.indexOf(control));
    return itself?.charCodeAt(0) ?? code;
  }

  #pop(): number {
    const code = this.#text.codePointAt(this.#at) ?? 0;
    this.#at += code > 0xffff ? 2 : 1;
    return code;
  }

  #find(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    return form.exec(this.#text);
  }
}

type Repetition = { readonly min: number; readonly max: number | undefined; readonly isCounted: boolean };

function repeated({ steps, need }: Part, { min, max, isCounted }: Repetition): Part {
  const count = max ?? min;
  const nested = isCounted && count > 0 ? count * Math.max(1, need) : max === 0 ? 0 : need;
  // What may come without end is one copy with a way back; what may be empty needs a way around it too.
  if (max === undefined) return { steps: Math.max(1, min) * steps + 2, need: nested, isOneCharacter: false };
  const optional = (max - min) * (steps + 1);
  return { steps: Math.max(1, min * steps + optional), need: nested, isOneCharacter: false };
}

/** Parts one after the other. */
function joined(parts: readonly Part[]): Part {
  const [only] = parts;
  if (only === undefined) return { steps: 1, need: 0, isOneCharacter: false };
  if (parts.length === 1) return only;
  const steps = parts.reduce((sum, part) => sum + part.steps, 0);
  return { steps, need: Math.max(...parts.map(({ need }) => need)), isOneCharacter: false };
}

/** The alternatives of a group. Single characters beside each other become one class. */
function closed({ branches, parts }: Group): Part {
  const all = [...branches, joined(parts)];
  const apart = all.filter((branch, index) => !branch.isOneCharacter || all[index - 1]?.isOneCharacter !== true);
  const [only] = apart;
  if (apart.length === 1 && only !== undefined) return only;
  const steps = apart.reduce((sum, part) => sum + part.steps + 1, -1);
  return { steps, need: Math.max(...apart.map(({ need }) => need)), isOneCharacter: false };
}

function foldingOf(from: number, to: number): number {
  if (from <= foldable.from && to >= foldable.to) return 0;
  const width = Math.min(to, foldable.to) - Math.max(from, foldable.from) + 1;
  return Math.ceil(Math.max(0, width) / foldedPerStep);
}

function isClassName(name: string): boolean {
  if (knownClasses.has(name)) return true;
  if (!/^[A-Za-z_]{1,40}$/.test(name)) return false;
  try {
    RE2JS.compile(`\\p{${name}}`);
  } catch {
    return false;
  }
  knownClasses.add(name);
  return true;
}
