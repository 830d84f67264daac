/** A value that a template may name; extracted JSON keeps its kind. */
export type Value = string | number | boolean;
export type Values = ReadonlyMap<string, Value>;

/** Names of variables, secrets and extracted values. */
export const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const template = /\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}/g;
const wholeTemplate = /^\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}$/;

/** Thrown while a request is written: the step cannot be made. */
export class TemplateError extends Error {
  readonly code: 'variable_missing' | 'variable_unusable';

  constructor(code: 'variable_missing' | 'variable_unusable', message: string) {
    super(message);
    this.code = code;
  }
}

/** Names in the templates of a text, each once. Whatever else has braces is ordinary text. */
export function namesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(template)].map(([, name = '']) => name))];
}

/** The whole text without its templates, to tell whether there is anything else in it. */
export function hasTemplate(text: string): boolean {
  return namesIn(text).length > 0;
}

/**
 * A text with its templates filled in. What is filled in is not looked at for templates again.
 * @param escape how a value is written at this place
 * @throws TemplateError `variable_missing` when nothing has the name
 */
export function fill(text: string, values: Values, escape: (value: string, name: string) => string): string {
  return text.replaceAll(template, (_whole, name: string) => escape(String(valueOf(name, values)), name));
}

/** The value of a text of JSON: one template alone keeps the kind of what it names, such as a number. */
export function fillValue(text: string, values: Values): Value {
  const name = wholeTemplate.exec(text)?.[1];
  return name === undefined ? fill(text, values, asItIs) : valueOf(name, values);
}

function valueOf(name: string, values: Values): Value {
  const value = values.get(name);
  if (value === undefined) throw new TemplateError('variable_missing', `Nothing is known by the name ${name}.`);
  return value;
}

export function asItIs(value: string): string {
  return value;
}

/** A component of a URL: everything but RFC 3986's unreserved characters is encoded, so that a value cannot begin another part. */
export function asUrlComponent(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Inside the quotes of a JSON text. */
export function asJsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/**
 * In the value of a header.
 * @throws TemplateError `variable_unusable` for line ends, other control characters and what is beyond Latin-1
 */
export function asHeader(value: string, name: string): string {
  if (/^[\t\x20-\x7e\xa0-\xff]*$/.test(value)) return value;
  throw new TemplateError(
    'variable_unusable',
    `The value of ${name} has characters that no header may carry, such as a line end.`,
  );
}
