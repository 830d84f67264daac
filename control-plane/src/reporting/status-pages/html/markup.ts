/** A piece of HTML in which every text is escaped already. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Html | string | number | null | undefined | false | readonly Part[];

// Characters that no reader sees, but which break a document or turn the direction of the text after them: controls, marks and overrides of
// direction (Unicode, UAX #9), and halves of surrogate pairs.
const invisible =
  // oxlint-disable-next-line eslint/no-control-regex -- these are the ones that are taken out
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ufeff]|\p{Surrogate}/gu;
/** Most texts need nothing: letters of Latin and Cyrillic, digits, and signs without a meaning in HTML. */
const harmless = /^[ !#-%(-;=?-~\u00a0-\u017f\u0400-\u04ff\u2009\u2013\u2014\u2026\u202f]*$/;
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/** The text without what could turn or break the text around it. */
export function visible(text: string): string {
  return text.replace(invisible, '');
}

/** For text and quoted attributes. */
export function escape(text: string): string {
  if (harmless.test(text)) return text;
  return visible(text).replace(/[&<>"']/g, (each) => escapes[each] ?? each);
}

const squeezed = new WeakMap<TemplateStringsArray, readonly string[]>();

/** A template of HTML: its values are escaped unless they are HTML; its line breaks, indents and needless quotes are left out. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let fixed = squeezed.get(strings);
  if (fixed === undefined) {
    fixed = strings.map((each) => each.replace(/\n\s*/g, '').replace(/( [a-zA-Z-]+)="([\w-]+)"(?=[ >])/g, '$1=$2'));
    squeezed.set(strings, fixed);
  }
  let text = fixed[0] ?? '';
  for (let at = 0; at < values.length; at += 1) text += textOf(values[at]) + (fixed[at + 1] ?? '');
  return new Html(text);
}

function textOf(part: Part): string {
  if (typeof part === 'string') return escape(part);
  if (part instanceof Html) return part.text;
  if (typeof part === 'number') return String(part);
  if (part === null || part === undefined || part === false) return '';
  let text = '';
  for (const each of part) text += textOf(each);
  return text;
}
