import path from 'node:path';
import { chooseDataFolder } from '../../packages/embedded/src/data-folder.mjs';
import { findNatsServer } from '../../packages/embedded/src/nats-binary.mjs';
import type { Stage } from './stages.ts';

/**
 * The environment of the test files of a stage.
 * @param missing the folder in which a test puts a file for each program that it did not find, called like it
 */
export function environmentOf(root: string, _stage: Stage, missing: string): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, ...inherited } = process.env;
  return {
    ...inherited,
    PATH: searchPath(root),
    PARALLAX_TEST_MISSING_SERVERS: missing,
    // Types are stripped and scripts compiled once, not in each of a thousand processes.
    NODE_COMPILE_CACHE: inherited['NODE_COMPILE_CACHE'] ?? path.join(root, 'node_modules/.cache/parallax-compile'),
  };
}

/** A nats-server that was fetched into the data folder is found like an installed one. */
function searchPath(root: string): string {
  const { folder: dataDir } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout: root });
  const nats = findNatsServer(process.env, { dataDir });
  const folders = [path.join(root, 'node_modules/.bin'), ...(nats === undefined ? [] : [path.dirname(nats.path)])];
  return [...folders, process.env['PATH'] ?? ''].join(path.delimiter);
}
