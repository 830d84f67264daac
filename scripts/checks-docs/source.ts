// What the sources of the check types say beside their code: comments on settings, and which error codes they name.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../packages/checks/src');

export function sourceText(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

/** The file that the registry imports a type from. */
function fileOf(protocol: string): string {
  const line = new RegExp(`import \\{[^}]*\\b${protocol}\\b[^}]*\\} from './([^']+)'`).exec(sourceText('registry.ts'));
  const main = line?.[1];
  if (main === undefined) throw new Error(`The registry imports "${protocol}" in a way that is not understood.`);
  return main;
}

/** Files of each type: the one that the registry imports it from, its folder and what it imports from its neighbours. */
export function filesOf(protocol: string): readonly string[] {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !existsSync(path.join(root, file))) return;
    seen.add(file);
    for (const [, imported] of sourceText(file).matchAll(/from '(\.[^']+\.ts)'/g)) {
      const next = path.join(path.dirname(file), imported ?? '');
      if (
        !/^(net\/(?!.*settings)|run\/|assertions\/|testing\/|result\/)|^(check|outcome|stop|facts|registry)\.ts$/.test(
          next,
        )
      )
        visit(next);
    }
  };
  visit(fileOf(protocol));
  return [...seen];
}

/** The comment above each property of an object in these files, by its name; the first file that has one wins. */
export function propertyComments(files: readonly string[]): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  for (const file of files) {
    const found = sourceText(file).matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s*\n\s*(?:readonly )?([a-z0-9_]+)\??:/g);
    for (const [, comment = '', name = ''] of found) if (!comments.has(name)) comments.set(name, oneLine(comment));
  }
  return comments;
}

/** Files that say what can go wrong of every type, or list codes without giving them. */
const ofEveryType =
  /^(?:run|registry|outcome|error-codes|facts|stop|check|common-settings)\.ts$|^(?:run|assertions|result|testing|diagnosis)\//;

/**
 * The error codes of `codes` that the sources of a type name, in their order: those of the file that the registry imports, of its folder, and
 * of what both import at run time. Files are taken whole, so a step that a type shares brings all of its codes along,
 * but those of TLS only where the type speaks it.
 */
export function codesOf(protocol: string, codes: readonly string[], speaksTls: boolean): readonly string[] {
  const seen = new Set<string>();
  const named = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || ofEveryType.test(file) || !existsSync(path.join(root, file))) return;
    seen.add(file);
    const text = sourceText(file);
    // `code === '…'` asks for one that another file gave.
    for (const [, code = ''] of text.matchAll(/(?<![=!]== )'([a-z0-9]+(?:_[a-z0-9]+)+)'/g))
      if (speaksTls || !(file.startsWith('net/') && code.startsWith('tls_'))) named.add(code);
    // Its resolver is given to it, so the import is of a type only.
    if (file === 'net/dial.ts') visit('net/resolve.ts');
    for (const [, imported = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+\.ts)';$/gm))
      visit(path.join(path.dirname(file), imported));
    for (const [, imported = ''] of text.matchAll(/import\('(\.[^']+\.ts)'\)/g))
      visit(path.join(path.dirname(file), imported));
  };
  visit(fileOf(protocol));
  return codes.filter((code) => named.has(code));
}

function oneLine(comment: string): string {
  return comment
    .replace(/^\s*\*\s?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}
