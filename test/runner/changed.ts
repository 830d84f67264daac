import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Files that differ from a commit, with those that are not in the repository yet.
 * @throws when git is missing or does not know the commit
 */
export function changedSince(root: string, commit: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [...new Set([...git('diff', '--name-only', commit), ...git('ls-files', '--others', '--exclude-standard')])];
}

/**
 * Returns those of the test files that import what changed, at whatever distance. Whatever stands in quotes and names a file or folder of the
 * project counts as an import: tests start programs and read files by their path.
 */
export function affectedBy(root: string, changed: readonly string[], tests: readonly string[]): string[] {
  const graph = readGraph(root);
  const isAffected = new Set(changed);
  const importers = new Map<string, string[]>();
  for (const [file, imports] of graph) {
    for (const imported of imports) importers.set(imported, [...(importers.get(imported) ?? []), file]);
  }
  const queue = changed.flatMap((file) => [file, ...foldersOf(file)]);
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const importer of importers.get(at) ?? []) {
      if (isAffected.has(importer)) continue;
      isAffected.add(importer);
      queue.push(importer);
    }
  }
  return tests.filter((file) => isAffected.has(file));
}

/** The folders that a file lies in, but for those that hold whole programs: naming one of those says nothing. */
function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/')).filter((folder) => folder.split('/').length > 2);
}

function readGraph(root: string): Map<string, Set<string>> {
  const files = globSync(['{packages,control-plane,probe-agent,test,scripts}/**/*.{ts,mjs}'], {
    cwd: root,
    exclude: (name) => name === 'node_modules',
  });
  const known = new Set(files);
  const folders = new Set(files.flatMap(foldersOf));
  const graph = new Map<string, Set<string>>();
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    const imports = new Set<string>();
    for (const [, quoted = ''] of text.matchAll(/['"`]([^'"`\n]{2,200})['"`]/g)) {
      for (const candidate of candidatesOf(file, quoted)) {
        if (known.has(candidate) || folders.has(candidate)) imports.add(candidate);
      }
    }
    graph.set(file, imports);
  }
  return graph;
}

/** What a text in quotes may name: beside the file, from the root, or a package of this project. */
function candidatesOf(file: string, quoted: string): string[] {
  const [, name, part = 'index'] = /^@parallax\/([a-z-]+)(?:\/([a-z-]+))?$/.exec(quoted) ?? [];
  if (name !== undefined) return [`packages/${name}/src/${part}.ts`, `packages/${name}/src/${part}.mjs`];
  if (!quoted.includes('/')) return [];
  return [path.posix.join(path.posix.dirname(file), quoted), path.posix.normalize(quoted)];
}
