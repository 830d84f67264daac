// Loaded before test files: notes which of them start a program or look for one, by a file in the folder that `PARALLAX_TEST_PROGRAMS_USED` names.
// Only those can behave differently where an optional program is hidden.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { fileOfNow } from './tap-of-file.ts';

const folder = process.env['PARALLAX_TEST_PROGRAMS_USED'];
/** What every test may use: it comes with the packages or is fetched by `npm test` itself. */
const always = new Set(['postgres', 'initdb', 'nats-server', 'node']);

if (folder !== undefined) {
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync'] as const) {
    replace(childProcess, name, (command: unknown, args: unknown) => {
      // The agent starts programs and looks for them; other programs of the project do neither.
      const isAgent = Array.isArray(args) && args.some((arg) => String(arg).includes('probe-agent'));
      if (isAgent || !always.has(path.basename(String(command)))) note(folder);
    });
  }
  // How programs are looked for, see `findProgram` of `@parallax/settings/programs`.
  replace(fs, 'accessSync', (file: unknown, mode: unknown) => {
    if (mode === fs.constants.X_OK && !always.has(path.basename(String(file)))) note(folder);
  });
  syncBuiltinESMExports();
}

function note(into: string): void {
  const file = fileOfNow();
  if (file !== undefined) fs.writeFileSync(path.join(into, encodeURIComponent(file)), '');
}

/** Has a function of a module of Node told of its arguments first. */
function replace(module: object, name: string, tell: (...args: unknown[]) => void): void {
  const known = Reflect.get(module, name) as (...args: unknown[]) => unknown;
  const told = function (this: unknown, ...args: unknown[]): unknown {
    tell(...args);
    return Reflect.apply(known, this, args);
  };
  // Such as `util.promisify.custom` of `execFile`.
  Reflect.set(module, name, Object.defineProperties(told, Object.getOwnPropertyDescriptors(known)));
}
