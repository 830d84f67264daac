// Plain JavaScript without dependencies: the start script needs it before anything is installed, and a program before it loads anything else.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import * as nodeModule from 'node:module';
import path from 'node:path';

export function compileCacheFolder(checkout) {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  try {
    const modules = realpathSync(path.join(checkout, 'node_modules'));
    const shared = path.join(modules, '.cache');
    const own = path.join(shared, 'parallax-compile');
    if (!isOf(user, modules, 0o002)) return undefined;
    makeFolder(shared, 0o755);
    if (!isOf(user, shared, 0o002)) return undefined;
    makeFolder(own, 0o700);
    return isOf(user, own, 0o022) ? own : undefined;
  } catch {
    return undefined;
  }
}

export function keepCompiledCode(main = process.argv[1]) {
  // Older versions have no cache. With the variable NODE_COMPILE_CACHE it is on already.
  if (main === undefined || nodeModule.enableCompileCache === undefined) return;
  if (process.env['NODE_COMPILE_CACHE'] || nodeModule.getCompileCacheDir() !== undefined) return;
  if (path.basename(main) !== 'main.ts') return;
  const folder = compileCacheFolder(path.resolve(path.dirname(main), '../..'));
  if (folder !== undefined) nodeModule.enableCompileCache(folder);
}

function makeFolder(folder, mode) {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** Whether it is a folder of this user, no link, and nobody else may write there by the named bits of its mode. */
function isOf(user, folder, othersWrite) {
  const facts = lstatSync(folder);
  return facts.isDirectory() && facts.uid === user && (facts.mode & othersWrite) === 0;
}
