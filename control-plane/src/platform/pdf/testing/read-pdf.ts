import { inflateSync } from 'node:zlib';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';

export type ReadPage = {
  /** What is written on it, in the order of the file; one item for each run. */
  readonly texts: readonly string[];
  /** All of it, without spaces: readers put them where they like. */
  readonly squeezed: string;
};

export type ReadPdf = {
  readonly pages: readonly ReadPage[];
  readonly information: Readonly<Record<string, unknown>>;
  readonly metadata: ReadonlyMap<string, unknown>;
  readonly bookmarks: readonly string[];
  readonly isTagged: boolean;
  /** Structure of the first page, as tags from the outside in. */
  readonly tags: readonly string[];
};

/** Reads a PDF with a library that had no part in writing it. */
export async function readPdf(file: Buffer): Promise<ReadPdf> {
  const task = getDocument({ data: new Uint8Array(file), verbosity: 0 });
  try {
    const document = await task.promise;
    const pages: ReadPage[] = [];
    for (let number = 1; number <= document.numPages; number += 1) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      const texts = items.flatMap((item) => ('str' in item && item.str.trim() !== '' ? [item.str] : []));
      pages.push({ texts, squeezed: squeeze(texts.join('')) });
    }
    const { info, metadata } = await document.getMetadata();
    const marks = (await document.getMarkInfo()) as unknown as ReadonlyMap<string, boolean> | null;
    const first = await document.getPage(1);
    return {
      pages,
      information: info as Record<string, unknown>,
      metadata: new Map(metadata === null ? [] : metadata),
      bookmarks: ((await document.getOutline()) ?? []).map(({ title }) => title),
      isTagged: marks?.get('Marked') === true,
      tags: tagsOf(await first.getStructTree()),
    };
  } finally {
    await task.destroy();
  }
}

export function squeeze(text: string): string {
  return text.replaceAll(/\s+/gu, '');
}

type StructNode = { role?: string; children?: StructNode[] };

function tagsOf(node: unknown): string[] {
  const { role, children } = (node ?? {}) as StructNode;
  return [...(role === undefined ? [] : [role]), ...(children ?? []).flatMap(tagsOf)];
}

/** The glyphs that a file shows, as they are numbered in its fonts; 0 is the box for a missing one. */
export function shownGlyphs(file: Buffer): number[] {
  return drawings(file).flatMap((drawing) =>
    [...drawing.matchAll(/\[([^\]]*)\] TJ/g)].flatMap(([, items]) =>
      [...items!.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex]) =>
        hex!.match(/.{4}/g)!.map((id) => Number.parseInt(id, 16)),
      ),
    ),
  );
}

/** The drawing instructions of each page. */
export function drawings(file: Buffer): string[] {
  const text = file.toString('latin1');
  return [...text.matchAll(/stream\n/g)].flatMap(({ index }) => {
    if (text.slice(index - 3, index) === 'end') return [];
    const start = index + 'stream\n'.length;
    const end = text.indexOf('\nendstream', start);
    const stream = inflated(file.subarray(start, end));
    return stream?.startsWith('1 0 0 -1 0 ') === true ? [stream] : [];
  });
}

function inflated(stream: Buffer): string | undefined {
  try {
    return inflateSync(stream).toString('latin1');
  } catch {
    return undefined;
  }
}
