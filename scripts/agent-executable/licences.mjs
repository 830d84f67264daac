// The licences of what is inside the executable: it is given to others, and most licences ask that their text goes with it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../install.mjs';

const licenceFile = /^(licen[cs]e|copying|notice)([.-]|$)/i;
const rule = '='.repeat(100);

/** The installed packages that files belong to, each once, by name and version. Files of the project itself are left out. */
export function packagesOf(files) {
  const folders = new Set(files.map(packageFolder).filter((folder) => folder !== undefined));
  return [...folders]
    .map(readPackage)
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'));
}

/** The folder of the innermost package that holds a file; undefined for a file outside of node_modules. */
export function packageFolder(file) {
  const parts = file.split('/');
  const at = parts.lastIndexOf('node_modules');
  if (at === -1) return undefined;
  const names = parts[at + 1]?.startsWith('@') ? 2 : 1;
  return parts.slice(0, at + 1 + names).join('/');
}

/** @throws when a package neither has a licence's text nor names a licence: nobody may give it to others */
export function readPackage(folder) {
  const { name, version, license, homepage, repository } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const texts = readdirSync(folder)
    .filter((file) => licenceFile.test(file))
    .sort()
    .map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  if (texts.length === 0 && typeof license !== 'string')
    throw new Error(
      `${name} ${version} has no licence, neither as a text nor in its package.json; it cannot be part of the executable`,
    );
  const source = homepage ?? repository?.url ?? repository;
  return { name, version, licence: license ?? 'see its text', texts, source };
}

/** One text: the project's licence, Node's (with those of what Node contains), and that of each package. */
export function licenceText(packages, node) {
  const own = readFileSync(path.join(root, 'LICENSE'), 'utf8').trim();
  const sections = packages.map(({ name, version, licence, texts, source }) => {
    const body =
      texts.length > 0 ? texts.join('\n\n') : `Its package holds no text of a licence and names this one: ${licence}.`;
    return `${name} ${version} (${licence})${typeof source === 'string' ? `\n${source}` : ''}\n\n${body}`;
  });
  return `${[
    `The Parallax probe agent\n\n${own}`,
    `Node.js ${node.version}, and what it contains\n\n${node.licence.trim()}`,
    ...sections,
  ].join(`\n\n${rule}\n\n`)}\n`;
}
