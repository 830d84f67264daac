// Every path in backticks in the documents that looks like one of the project's must exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './run.mjs';

const cited = /`((?:packages|control-plane|probe-agent|proto|scripts|test|docs|deploy)\/[A-Za-z0-9_./-]+)`/g;

export function pathsInDocuments() {
  const documents = ['', 'docs/'].flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}${name}`),
  );
  const paths = documents.flatMap((document) =>
    [...readFileSync(path.join(root, document), 'utf8').matchAll(cited)].map(([, at]) => ({ document, at })),
  );
  const lines = paths
    .filter(({ at }) => !existsSync(path.join(root, at)))
    .map(({ document, at }) => `${document}: ${at}`);
  if (documents.length < 4 || paths.length < 10)
    lines.push(`only ${documents.length} documents with ${paths.length} paths were found`);
  return {
    ok: lines.length === 0,
    output: lines.join('\n') || `${paths.length} paths in ${documents.length} documents exist`,
  };
}
