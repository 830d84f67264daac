import { statusPageFileTypes } from '@parallax/api-contract';
import type { PageDocument } from '../view/page-document.ts';
import type { PageFile, PageFiles } from '../view/page-view.ts';

const contentTypes = { png: 'image/png', webp: 'image/webp', svg: 'image/svg+xml; charset=utf-8' } as const;

/** Opened by itself, a picture is a document: nothing in it takes effect, and it has an origin of its own. */
const policy =
  "default-src 'none'; style-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** The pictures of a page, by the hash of their bytes. */
export const fileDocuments: readonly PageDocument[] = statusPageFileTypes.map((type) => ({
  path: `/files/:id.${type}`,
  idForm: /^[0-9a-f]{32}$/,
  contentType: contentTypes[type],
  isTranslated: false,
  isShared: false,
  policy,
  file: ({ files }, id) => (files === undefined ? null : (namedIn(files, id, type) ?? null)),
  render: () => null,
}));

function namedIn(
  { logoLight, logoDark, favicon }: PageFiles,
  hash: string,
  type: PageFile['type'],
): PageFile | undefined {
  return [logoLight, logoDark, favicon].find((file) => file?.hash === hash && file.type === type) ?? undefined;
}

/** Where a picture is, below its page. */
export function filePath({ hash, type }: PageFile): string {
  return `/files/${hash}.${type}`;
}
