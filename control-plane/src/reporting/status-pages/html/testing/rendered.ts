import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { Locale } from '../../view/locale.ts';
import type { PageView } from '../../view/page-view.ts';
import { htmlDocuments } from '../documents.ts';
import { madeMs, samples } from './samples.ts';

export type Element = DefaultTreeAdapterTypes.Element;

export function rendered(view: PageView, path = '', locale: Locale = view.locale, id = '', nowMs = madeMs): string {
  const text = htmlDocuments.find((each) => each.path === path)?.render(view, { locale, nowMs, id });
  if (text === null || text === undefined) throw new Error(`There is no document at "${path}".`);
  return text;
}

export function sample(name: string): PageView {
  const found = samples[name];
  if (found === undefined) throw new Error(`There is no sample "${name}".`);
  return found;
}

export type Rendered = {
  readonly name: string;
  readonly view: PageView;
  readonly path: string;
  readonly id: string;
  readonly locale: Locale;
  readonly html: string;
};

/** Every document of a view in one language, with those of its incidents. */
export function documentsOf(name: string, view: PageView, locale: Locale): readonly Rendered[] {
  const one = (path: string, id: string): Rendered => ({
    name: `${name}${path.replace(':id', id)}, ${locale}`,
    view,
    path,
    id,
    locale,
    html: rendered(view, path, locale, id),
  });
  const subscribe = view.subscribe.length === 0 ? [] : [one('/subscribe', '')];
  return [one('', ''), one('/history', ''), ...subscribe, ...view.incidents.map(({ id }) => one('/incidents/:id', id))];
}

/** Every document of every sample in every language. */
export const allDocuments: readonly Rendered[] = Object.entries(samples).flatMap(([name, view]) =>
  (['en', 'ru'] as const).flatMap((locale) => documentsOf(name, view, locale)),
);

/** The text that a reader sees: without style and script, and with its white space in order. */
export const textOf = (html: string): string =>
  html.replace(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, ' ').replace(/[\s\u00a0\u202f]+/g, ' ');

/** The elements of a document in their order. */
export function elementsOf(html: string): readonly Element[] {
  const found: Element[] = [];
  const walk = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node) found.push(node);
    if ('childNodes' in node) for (const each of node.childNodes) walk(each);
  };
  walk(parse(html));
  return found;
}

export function attributeOf({ attrs }: Element, name: string): string | undefined {
  return attrs.find((each) => each.name === name)?.value;
}
