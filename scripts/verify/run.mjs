// Runs a program of the project and keeps all that it says.
import { spawn } from 'node:child_process';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
const binaries = path.join(root, 'node_modules/.bin');

/** Runs a program of node_modules/.bin, with the pinned Node first on its path. `output` is what it said on both streams. */
export function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(path.join(binaries, program), args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: `${binaries}${path.delimiter}${process.env.PATH}` },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.once('error', (error) => resolve({ ok: false, stdout, output: error.message }));
    child.once('close', (status) => resolve({ ok: status === 0, stdout, output: `${stdout}${stderr}`.trim() }));
  });
}

/** The same result for several steps that one program serves. */
export function forAll(steps, result) {
  return Object.fromEntries(steps.map((step) => [step, result]));
}

/** A text as JSON; undefined where a program said something else. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
