import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleText } from '../../harness/module-text.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const caller = path.join(root, 'control-plane/src/platform/http/caller.ts');
const scope = path.join(root, 'control-plane/src/platform/database/scope.ts');

/** Where the product says whose rows a request may see, and what says it instead. */
const changes: ReadonlyMap<string, readonly (readonly [was: string, is: string])[]> = new Map([
  [
    caller,
    [
      // Every query is told that all workspaces are the caller's; the transaction alone knows which are.
      [
        'workspaceIds: [...caller.workspaces.keys()]',
        'workspaceIds: Array.from({ length: 1_000 }, (_, at) => at + 1), ofTransaction: [...caller.workspaces.keys()]',
      ],
      [
        "if (role === undefined) throw new Problem('not_found'",
        "if (role === undefined) return 'owner'; if (false) throw new Problem('not_found'",
      ],
    ],
  ],
  [scope, [['scope.workspaceIds.join', '(scope.ofTransaction ?? scope.workspaceIds).join']]],
]);

/**
 * From now on the product is loaded without the application's own filter: every role is granted in every workspace, and every query is asked
 * for the rows of all. What is left is row-level security. To be called before any of it is imported.
 * @returns the files that were changed, once they were loaded
 */
export function loadWithoutFilter(): ReadonlySet<string> {
  const changed = new Set<string>();
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const file = url.startsWith('file:') ? fileURLToPath(url) : '';
      const own = changes.get(file);
      if (own === undefined) return loaded;
      let source = moduleText(loaded.source);
      for (const [was, is] of own) {
        if (source.split(was).length !== 2) throw new Error(`${file}: "${was}" is not there exactly once`);
        source = source.replace(was, is);
      }
      changed.add(path.basename(file));
      return { ...loaded, source };
    },
  });
  return changed;
}
