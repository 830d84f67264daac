import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { root } from './group-mutants.ts';
import type { GroupMutants } from './group-mutants.ts';
import { instrument } from './instrument.ts';
import { bytesOf, parse } from './syntax.ts';

const here = (name: string): string => pathToFileURL(path.join(import.meta.dirname, name)).href;
const standIns: Readonly<Record<string, string>> = {
  tap: here('tap-stand-in.ts'),
  '@parallax/testkit/fast-check': here('fast-check-stand-in.ts'),
};
const switchUrl = here('switch.ts');
/** Whatever is in it is loaded anew for a mutant of what runs when a module is loaded, and counts its steps. */
const inner = pathToFileURL(path.join(root, 'control-plane/src/')).href;

/**
 * From now on the modules of a group are loaded so that they can be any of its mutants, and tests with stand-ins for their library. A module
 * that is imported with a query is loaded anew, with all that it imports.
 */
export function loadInstrumented({ files }: GroupMutants): void {
  const known = new Map<string, string>();
  for (const { mutated, firstId } of files) known.set(mutated.file, instrument(mutated, firstId, switchUrl));
  registerHooks({
    resolve: (specifier, context, next) => {
      const parent = context.parentURL ?? '';
      const standIn = standIns[specifier];
      if (standIn !== undefined && parent.startsWith(inner)) return next(standIn, context);
      const found = next(specifier, context);
      const query = new URL(parent || 'file:///').search;
      const isAnew = query !== '' && found.url.startsWith(inner) && !found.url.includes('?');
      return isAnew ? { ...found, url: found.url + query } : found;
    },
    load: (url, context, next) => {
      if (!url.startsWith(inner)) return next(url, context);
      const file = path
        .relative(root, fileURLToPath(new URL(url)))
        .split(path.sep)
        .join('/');
      const source = known.get(file) ?? withSteps(file);
      known.set(file, source);
      return { format: 'module-typescript', source, shortCircuit: true };
    },
  });
}

function withSteps(file: string): string {
  const source = bytesOf(readFileSync(path.join(root, file), 'utf8'));
  return instrument({ file, source, tree: parse(source), sites: [] }, 0, switchUrl);
}
