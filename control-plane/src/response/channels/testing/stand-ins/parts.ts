import type { Must, SeenRequest } from '../stand-in.ts';

/** A body of JSON that is an object, whose fields are read without trusting them. */
export type Body = Readonly<Record<string, unknown>>;

/** The body as an object of JSON, which the service wants to be called so. */
export function jsonBody(request: SeenRequest, must: Must): Body {
  must(/^application\/json\b/.test(request.headers['content-type'] ?? ''), 'a content type of JSON');
  const isObject = typeof request.json === 'object' && request.json !== null && !Array.isArray(request.json);
  must(isObject, 'an object of JSON');
  return isObject ? (request.json as Body) : {};
}

/** A field that is a text of at least one and at most so many characters. */
export function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length > 0 && Array.from(value).length <= most;
}

/** A field that may be left out, or a text that may be empty, of at most so many characters. */
export function isOptionalText(value: unknown, most: number): boolean {
  return value === undefined || value === '' || isText(value, most);
}

/** A field as text; empty where it is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whether a field is one of these words. */
export function isOneOf(value: unknown, words: readonly string[]): boolean {
  return typeof value === 'string' && words.includes(value);
}

/** Whether a field is a time that can be read. */
export function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}

/** Whether a body has no fields but these. */
export function hasOnly(body: Body, names: readonly string[]): boolean {
  return Object.keys(body).every((name) => names.includes(name));
}

/** What stands in an `Authorization` header of RFC 7617, in clear. */
export function basicOf(request: SeenRequest): string {
  const given = /^Basic ([A-Za-z0-9+/]+=*)$/.exec(request.headers['authorization'] ?? '')?.[1];
  return given === undefined ? '' : Buffer.from(given, 'base64').toString('utf8');
}

/** Things of JSON that are objects, from a field that is a list; what is none is left out. */
export function objectsOf(value: unknown): readonly Body[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one): one is Body => typeof one === 'object' && one !== null && !Array.isArray(one));
}

/** A field that is an object; an empty one where it is none. */
export function objectOf(value: unknown): Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Body) : {};
}

export function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
}
