// tap works out its loaders before it rebuilds its set of plugins, so the first run after an installation would still load
// @tapjs/typescript, which cannot load TypeScript 7. This builds that set once; it takes no time when there is nothing to do.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { productNode, root } from './install.mjs';

/** Throws when tap cannot build its plugins. */
export function tapReady() {
  const built = path.join(root, 'node_modules/@tapjs/test/test-built/dist/esm/index.js');
  if (existsSync(built) && !readFileSync(built, 'utf8').includes('@tapjs/typescript')) return;
  const tap = path.join(root, 'node_modules/tap/dist/esm/run.mjs');
  const { status } = spawnSync(productNode(), [tap, 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('tap cannot build its plugins; its lines above say why');
}
