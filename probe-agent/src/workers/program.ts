import { getAsset, isSea } from 'node:sea';
import type { ProgramSource } from './thread.ts';

/** The name under which the executable holds the text of its own program; scripts/agent-executable puts it there. */
const assetName = 'probe-agent.cjs';

/** The program that threads are to run: this one. @param main the file that this process was started with, for one that is no executable */
export function ownProgram(main: string | undefined): ProgramSource {
  if (isSea()) return { code: getAsset(assetName, 'utf8') };
  if (main === undefined) throw new Error('this process has no program that its threads could run');
  return { file: main };
}
