import type { PageDocument } from '../../view/page-document.ts';
import type { PageView } from '../../view/page-view.ts';
import { nowMs } from './samples.ts';

/** What a document of this path is for a page, in the page's language. */
export function rendered(documents: readonly PageDocument[], path: string, view: PageView, id = ''): string | null {
  const found = documents.find((each) => each.path === path);
  if (found === undefined) throw new Error(`There is no document at ${path}`);
  return found.render(view, { locale: view.locale, nowMs, id });
}

/** The same, where there is one. */
export function textOf(documents: readonly PageDocument[], path: string, view: PageView, id = ''): string {
  const text = rendered(documents, path, view, id);
  if (text === null) throw new Error(`${path} has nothing of ${id}`);
  return text;
}
