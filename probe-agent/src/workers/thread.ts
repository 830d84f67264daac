import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { WorkerStart } from './messages.ts';

/** Where the program that a thread runs is: a file, or its text inside the executable. */
export type ProgramSource = { readonly file: string } | { readonly code: string };

/**
 * What is new in memory has so much room in a thread, MB: three times the half that node-options.json gives the main one. The other option
 * there holds for all threads of a process.
 */
const youngGenerationMb = 24;

/** Starts a thread that runs checks; see `startOfThisThread`, which the program asks for when it finds itself in one. */
export function startThread(source: ProgramSource, start: WorkerStart, name: string): Worker {
  const options = { workerData: start, name, resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb } };
  return 'file' in source ? new Worker(source.file, options) : new Worker(source.code, { ...options, eval: true });
}

/** What this thread was started for; undefined in the main thread and in threads of others. */
export function startOfThisThread() {
  if (isMainThread || parentPort === null) return undefined;
  const start = workerData as Partial<WorkerStart> | null;
  return start?.purpose === 'parallax-checks' ? { port: parentPort, start: start as WorkerStart } : undefined;
}
