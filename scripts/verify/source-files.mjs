// The source files that a tool has to have read: one that reads none finds nothing.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { root } from './run.mjs';

const passedOver = new Set(['node_modules', 'dist', 'coverage', '.tap']);

/** Source files below the folders, as paths from the root. */
export function sourceFiles(folders) {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const at = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return passedOver.has(entry.name) ? [] : sourceFiles([at]);
      return /\.[cm]?[jt]s$/.test(entry.name) ? [at] : [];
    }),
  );
}
