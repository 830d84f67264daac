import { Parser } from 'tap-parser';
import { failures } from './failures.ts';

/** What came of one run of a test file. */
export type FileResult = {
  readonly file: string;
  readonly stage: string;
  readonly isGood: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** Processor time of the file and of all that it waited for; undefined where the system does not tell. */
  readonly cpuSeconds: number | undefined;
  /** The TAP that it printed. */
  readonly text: string;
  /** What a person needs to see of a failure. */
  readonly complaints: readonly string[];
  /** Names of what it has proven to be caught, see `caught.ts`. */
  readonly caught: readonly string[];
};

/**
 * Judges the TAP of a file.
 * @param problem what is wrong beside the TAP, such as an exit code; undefined: nothing
 */
export function fileResult(
  about: Pick<FileResult, 'file' | 'stage' | 'seconds' | 'cpuSeconds'>,
  text: string,
  problem: string | undefined,
): FileResult {
  let [passed, failed, skipped, isComplete] = [0, 0, 0, false];
  const parser = new Parser((results) => (isComplete = results.ok && results.count > 0));
  parser.on('pass', () => (passed += 1));
  parser.on('fail', () => (failed += 1));
  // A test that is not ready to pass counts as one that is passed over.
  parser.on('skip', () => (skipped += 1));
  parser.on('todo', () => (skipped += 1));
  parser.end(text);
  const isGood = problem === undefined && isComplete && failed === 0;
  return {
    ...about,
    isGood,
    passed,
    // A file that ended badly has failed, whatever it had said before.
    failed: isGood ? 0 : Math.max(1, failed),
    skipped,
    text,
    complaints: isGood ? [] : [...failures(text.split('\n')), ...(problem ?? '').split('\n').filter(Boolean)],
    caught: [...text.matchAll(/^\s*# caught: (.+)$/gm)].map(([, name = '']) => name),
  };
}
