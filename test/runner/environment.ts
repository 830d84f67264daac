import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { memoryFolder } from '@parallax/testkit/memory-folder';
import { programsBySource } from '@parallax/testkit/program';
import { chooseDataFolder } from '../../packages/embedded/src/data-folder.mjs';
import { findNatsServer } from '../../packages/embedded/src/nats-binary.mjs';
import { barePath } from '../../scripts/bare-path.mjs';
import { programs } from '../../scripts/programs/bundle.mjs';
import type { Planned, Stage } from './stages.ts';

export type Environments = {
  /** What the processes of a stage are started with. */
  readonly of: (stage: Stage) => NodeJS.ProcessEnv;
  /** In which a test puts a file for each program that it did not find, called like it. */
  readonly missing: string;
  /** In which a shared process puts a file for each test file that uses programs, see `programs-used.ts`. */
  readonly programsUsed: string;
  /** Takes away all folders that were made for it. */
  readonly remove: () => void;
};

/** Whose tests start programs of the product again and again. */
const startsPrograms = /^test\/(e2e|faults)\/|^control-plane\/src\/commands\//;

/** @param planned what will run */
export async function openEnvironments(root: string, planned: readonly Planned[]): Promise<Environments> {
  const { NODE_OPTIONS: _options, ...inherited } = process.env;
  // What tests write they throw away: in memory nothing waits for a disk.
  const work = mkdtempSync(path.join(memoryFolder() ?? tmpdir(), 'parallax-tests-'));
  // Tests start programs under other accounts, too.
  chmodSync(work, 0o1777);
  const missing = mkdtempSync(path.join(work, 'missing-'));
  const programsUsed = mkdtempSync(path.join(work, 'programs-used-'));
  const bare = planned.some(({ stage }) => stage.isBare === true) ? barePath() : undefined;
  const made = planned.some(({ file }) => startsPrograms.test(file)) ? await programs() : {};
  const usual: NodeJS.ProcessEnv = {
    ...inherited,
    PATH: searchPath(root),
    TMPDIR: work,
    PARALLAX_TEST_MISSING_SERVERS: missing,
    PARALLAX_TEST_PROGRAMS_USED: programsUsed,
    PARALLAX_TEST_PROGRAMS: JSON.stringify(programsBySource(made)),
    // Types are stripped and scripts compiled once, not in each of a thousand processes.
    NODE_COMPILE_CACHE: inherited['NODE_COMPILE_CACHE'] ?? path.join(root, 'node_modules/.cache/parallax-compile'),
  };
  // What is hidden on purpose is not told as missing.
  const withoutPrograms: NodeJS.ProcessEnv = {
    ...usual,
    PATH: bare?.PATH,
    PARALLAX_TEST_SERVERS: undefined,
    PARALLAX_TEST_MISSING_SERVERS: undefined,
    PARALLAX_TEST_PROGRAMS_USED: undefined,
  };
  return {
    of: (stage) => (stage.isBare === true ? withoutPrograms : usual),
    missing,
    programsUsed,
    remove: () => {
      bare?.remove();
      rmSync(work, { recursive: true, force: true });
    },
  };
}

/** A nats-server that was fetched into the data folder is found like an installed one. */
function searchPath(root: string): string {
  const { folder: dataDir } = chooseDataFolder({ named: process.env['PARALLAX_DATA_DIR'], checkout: root });
  const nats = findNatsServer(process.env, { dataDir });
  const folders = [path.join(root, 'node_modules/.bin'), ...(nats === undefined ? [] : [path.dirname(nats.path)])];
  return [...folders, process.env['PATH'] ?? ''].join(path.delimiter);
}
