import { SaxesParser } from 'saxes';
import type { SaxesAttributeNS, SaxesTagNS } from 'saxes';
import {
  drawingElements,
  geometryAttributes,
  gradientElements,
  leftOutAttributes,
  leftOutElements,
  paintAttributes,
  repeatedElements,
  textElements,
} from './svg-names.ts';

/** Why an SVG is not taken, for whoever sent it. */
export class SvgError extends Error {}

/** An SVG that was written anew out of what is allowed. Sizes are in pixels; null: it names none. */
export type CleanSvg = { readonly text: string; readonly width: number | null; readonly height: number | null };

const svgNamespace = 'http://www.w3.org/2000/svg';
const htmlNamespace = 'http://www.w3.org/1999/xhtml';
const xlinkNamespace = 'http://www.w3.org/1999/xlink';
const mostElements = 5_000;
const mostDepth = 60;

/**
 * Writes an SVG anew, out of elements and attributes that are on a list: what a browser could read in another way than this parser is never passed on.
 * Whatever could act or load something, and all that is drawn and not on the list, is refused by its name, since a picture that silently looks
 * different helps nobody. What draws nothing (comments, metadata, and the notes of drawing programs in namespaces of their own) is left out.
 * @throws SvgError
 */
export function sanitizeSvg(bytes: Buffer): CleanSvg {
  const writer = new SvgWriter();
  const parser = new SaxesParser({ xmlns: true, position: true });
  const fail = (message: string): never => {
    throw new SvgError(`line ${parser.line}: ${message}`);
  };
  parser.on('error', (error) =>
    fail(`it is not well-formed XML (${error.message.replace(/^[\d:. ]+/, '').slice(0, 200)})`),
  );
  parser.on('doctype', () => fail('a DOCTYPE is not taken'));
  parser.on('processinginstruction', ({ target }) => fail(`the processing instruction ${named(target)} is not taken`));
  parser.on('opentag', (tag) => writer.open(tag, fail));
  parser.on('closetag', () => writer.close());
  parser.on('text', (text) => writer.text(text));
  parser.on('cdata', (text) => writer.text(text));
  parser.write(decoded(bytes)).close();
  return writer.finish();
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SvgError('it is not in UTF-8');
  }
}

type Fail = (message: string) => never;
/** `local` is undefined for an element that is left out with all that is in it. */
type Open = { readonly local: string | undefined; readonly id: string | undefined };
type Reference = { readonly to: string; readonly isUse: boolean; readonly within: readonly Open[] };

class SvgWriter {
  readonly #parts: string[] = [];
  readonly #stack: Open[] = [];
  readonly #elements = new Map<string, string>();
  readonly #references: Reference[] = [];
  #count = 0;
  #size: { readonly width: number | null; readonly height: number | null } = { width: null, height: null };

  open(tag: SaxesTagNS, fail: Fail): void {
    const parent = this.#stack.at(-1);
    this.#count += 1;
    if (this.#count > mostElements) fail(`it has more than ${mostElements} elements`);
    if (this.#stack.length >= mostDepth) fail(`elements are nested more than ${mostDepth} deep`);
    if (parent === undefined && (tag.uri !== svgNamespace || tag.local !== 'svg')) {
      fail(`its first element must be <svg xmlns="${svgNamespace}">`);
    }
    const isLeftOut = this.#stack.some(({ local }) => local === undefined) || !this.#isTaken(tag, fail);
    if (isLeftOut) {
      this.#stack.push({ local: undefined, id: undefined });
      return;
    }
    const attributes = this.#attributesOf(tag, fail);
    const id = attributes.get('id');
    if (id !== undefined) this.#elements.set(id, tag.local);
    this.#stack.push({ local: tag.local, id });
    this.#refer(tag.local, attributes);
    if (parent === undefined) this.#size = sizeOf(attributes);
    const written = [...attributes].map(([name, value]) => ` ${name}="${escaped(value)}"`).join('');
    this.#parts.push(`<${tag.local}${parent === undefined ? ` xmlns="${svgNamespace}"` : ''}${written}>`);
  }

  close(): void {
    const closed = this.#stack.pop();
    if (closed?.local !== undefined) this.#parts.push(`</${closed.local}>`);
  }

  text(text: string): void {
    const local = this.#stack.at(-1)?.local;
    if (local !== undefined && textElements.has(local)) this.#parts.push(escaped(text));
  }

  /** @throws SvgError for a reference that would be drawn over and over: a few of them, one in the other, are a billion shapes */
  finish(): CleanSvg {
    const repeated = new Set(this.#references.filter(({ isUse }) => isUse).map(({ to }) => to));
    for (const { to, isUse, within } of this.#references) {
      const isRepeated = within.some(
        ({ local = '', id }) => repeatedElements.has(local) || (id !== undefined && repeated.has(id)),
      );
      if (isRepeated && !gradientElements.has(this.#elements.get(to) ?? '')) {
        throw new SvgError(
          `the reference to #${named(to)} stands in something that is itself drawn by reference${isUse ? ' of <use>' : ''}`,
        );
      }
    }
    return { text: this.#parts.join(''), ...this.#size };
  }

  #isTaken({ uri, local, name }: SaxesTagNS, fail: Fail): boolean {
    if (uri === htmlNamespace) fail(`the element <${named(name)}> is not taken`);
    if (uri !== svgNamespace || leftOutElements.has(local)) return false;
    return drawingElements.has(local) || fail(`the element <${named(local)}> is not taken`);
  }

  #attributesOf(tag: SaxesTagNS, fail: Fail): Map<string, string> {
    const taken = new Map<string, string>();
    const take = (name: string, value: string): void => {
      const wrong = wrongValue(name, value);
      if (wrong !== undefined) fail(`${named(name)} of <${tag.local}> ${wrong}`);
      taken.set(name, value.trim());
    };
    for (const attribute of Object.values(tag.attributes)) {
      const { local, value, uri } = attribute;
      // Notes of drawing programs, and declarations of namespaces: they are not written.
      if (uri !== '' && !isHref(attribute)) continue;
      if (isHref(attribute)) {
        if (tag.local !== 'use' && !gradientElements.has(tag.local)) fail(`<${tag.local}> may not refer to anything`);
        if (!/^#[\w.:-]+$/.test(value.trim()))
          fail(`<${tag.local}> may refer to an element of the picture alone: #name`);
        taken.set('href', value.trim());
      } else if (local === 'style') {
        for (const [name, paint] of declarationsOf(value, fail)) take(name, paint);
      } else if (paintAttributes.has(local) || geometryAttributes.has(local)) {
        // What stands in `style` counts more, in whatever order they come.
        if (!(paintAttributes.has(local) && 'style' in tag.attributes && taken.has(local))) take(local, value);
      } else if (!leftOutAttributes.test(local)) {
        fail(`the attribute ${named(local)} is not taken`);
      }
    }
    return taken;
  }

  #refer(local: string, attributes: ReadonlyMap<string, string>): void {
    const within = [...this.#stack];
    for (const [name, value] of attributes) {
      const to = name === 'href' ? value.slice(1) : localUrl.exec(value)?.[1];
      if (to !== undefined && !(name === 'href' && local !== 'use')) {
        this.#references.push({ to, isUse: name === 'href', within: name === 'href' ? within : within.slice(0, -1) });
      }
    }
  }
}

const isHref = ({ local, uri }: SaxesAttributeNS): boolean =>
  local === 'href' && (uri === '' || uri === xlinkNamespace);

const localUrl = /^url\(\s*["']?#([\w.:-]+)["']?\s*\)/;
const wholeUrl = /^url\(\s*["']?#[\w.:-]+["']?\s*\)(\s+[\w#.-]+)?$/;

/** What is wrong with a value; undefined: nothing. A value is never read as CSS here, so that what CSS could hide in it is not taken. */
function wrongValue(name: string, value: string): string | undefined {
  const text = value.trim();
  if (text.length > 100_000) return 'is too long';
  if (name === 'id') return /^[\w.:-]{1,200}$/.test(text) ? undefined : 'must be a name of letters, digits and hyphens';
  if (/[\\<>&;{}@]|\/\*/.test(text)) return 'has characters that are not taken';
  if (
    /url\s*\(|image\s*\(|image-set|src\s*\(|expression|javascript|data:|var\s*\(|attr\s*\(/i.test(text) &&
    !wholeUrl.test(text)
  ) {
    return 'may refer to an element of the picture alone: url(#name)';
  }
  return undefined;
}

/** The attribute `style` as the attributes that mean the same; with a policy that forbids styles it would count for nothing. */
function declarationsOf(style: string, fail: Fail): [name: string, value: string][] {
  return style
    .split(';')
    .filter((part) => part.trim() !== '')
    .flatMap((part): [string, string][] => {
      const colon = part.indexOf(':');
      const name = part.slice(0, Math.max(0, colon)).trim().toLowerCase();
      // Drawing programs note how they work in properties of their own.
      if (name.startsWith('-') && !/url/i.test(part)) return [];
      if (!paintAttributes.has(name)) fail(`the style ${named(name === '' ? part : name)} is not taken`);
      return [[name, part.slice(colon + 1).replace(/\s*!important\s*$/i, '')]];
    });
}

function sizeOf(attributes: ReadonlyMap<string, string>): Pick<CleanSvg, 'width' | 'height'> {
  const pixels = (name: string): number | undefined => {
    const [, digits] = /^(\d{1,5}(?:\.\d+)?)(?:px)?$/.exec(attributes.get(name) ?? '') ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  const box =
    attributes
      .get('viewBox')
      ?.split(/[\s,]+/)
      .map(Number) ?? [];
  const [width = box[2], height = box[3]] = [pixels('width'), pixels('height')];
  const isSize = (size: number | undefined): size is number => size !== undefined && size > 0 && size < 100_000;
  return isSize(width) && isSize(height)
    ? { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) }
    : { width: null, height: null };
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => escapes[each] ?? each);

/** A name out of the file, in short and without what could turn the text around it. */
const named = (name: string): string => name.replaceAll(/[^\w:.#-]/g, '?').slice(0, 60);
