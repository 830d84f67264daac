import { boundedMemo } from '../../../platform/http/prepared/bounded-memo.ts';
import type { PageDocument } from '../view/page-document.ts';

/** Documents that are found below a prefix and a slug. */
export type DocumentBase = {
  /** With the slash before the slug: `/status/`. */
  readonly prefix: string;
  readonly documents: readonly PageDocument[];
};

/** Which document a path names. */
export type DocumentMatch = {
  readonly prefix: string;
  readonly slug: string;
  readonly document: PageDocument;
  readonly id: string;
};

/** Finds documents by their paths. */
export class DocumentTable {
  readonly #bases: readonly {
    readonly prefix: string;
    readonly exact: ReadonlyMap<string, PageDocument>;
    readonly patterns: readonly { readonly before: string; readonly after: string; readonly document: PageDocument }[];
  }[];

  constructor(bases: readonly DocumentBase[]) {
    this.#bases = bases.map(({ prefix, documents }) => ({
      prefix,
      exact: new Map(
        documents.filter(({ path }) => !path.includes(':id')).map((document) => [document.path, document]),
      ),
      patterns: documents
        .filter(({ path }) => path.includes(':id'))
        .map((document) => {
          const [before = '', after = ''] = document.path.split(':id');
          return { before, after, document };
        }),
    }));
  }

  /** Whether a path lies below one of the prefixes. */
  covers(path: string): boolean {
    return this.#bases.some(({ prefix }) => path.startsWith(prefix));
  }

  /** @param path of a request, without its query */
  readonly match: (path: string) => DocumentMatch | undefined = boundedMemo(mostPaths, (path) => this.#match(path));

  #match(path: string): DocumentMatch | undefined {
    const base = this.#bases.find(({ prefix }) => path.startsWith(prefix));
    if (base === undefined) return undefined;
    const rest = path.slice(base.prefix.length);
    const end = rest.indexOf('/');
    const slug = end === -1 ? rest : rest.slice(0, end);
    const below = end === -1 ? '' : rest.slice(end);
    if (!slugForm.test(slug)) return undefined;
    const document = base.exact.get(below);
    if (document !== undefined) return { prefix: base.prefix, slug, document, id: '' };
    for (const { before, after, document: one } of base.patterns) {
      if (!below.startsWith(before) || !below.endsWith(after) || below.length <= before.length + after.length) continue;
      const id = below.slice(before.length, below.length - after.length);
      if ((one.idForm ?? idForm).test(id)) return { prefix: base.prefix, slug, document: one, id };
    }
    return undefined;
  }
}

/** Paths that are remembered: most readers of an outage ask for the same few. */
const mostPaths = 5_000;
const slugForm = /^[a-z0-9][a-z0-9-]{1,62}$/;
const idForm = /^[a-z0-9]{12}$/;
