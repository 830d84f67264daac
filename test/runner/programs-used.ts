// Loaded before test files: notes which of them start an optional program or look for one, by a file in the folder that `PARALLAX_TEST_PROGRAMS_USED`
// names. Only those can behave differently where optional programs are hidden.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { plainPrograms } from '../../scripts/bare-path.mjs';
import { fileOfNow } from './tap-of-file.ts';

/** Plain programs that start others, by a name that is not looked at here. */
const starters = new Set(
  'bash chroot env find flock nice nohup nsenter perl setpriv setsid sh stdbuf su timeout unshare xargs'.split(' '),
);

const folder = process.env['PARALLAX_TEST_PROGRAMS_USED'];
if (folder !== undefined) {
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync'] as const) {
    replace(childProcess, name, (command: unknown, args: unknown) => {
      // The agent starts programs and looks for them; other programs of the project do neither.
      const texts = Array.isArray(args) ? args.map(String) : [];
      const isAgent = texts.some((arg) => arg.includes('probe-agent'));
      if (command === unhidden) return;
      if (isAgent || !isPlain(path.basename(String(command)), texts)) note(folder);
    });
  }
  // How programs are looked for, see `findProgram` of `@parallax/settings/programs`.
  replace(fs, 'accessSync', (file: unknown, mode: unknown) => {
    if (mode === fs.constants.X_OK && !plainPrograms.has(path.basename(String(file)))) note(folder);
  });
  syncBuiltinESMExports();
}

/** Started by its path, which leads to it wherever the optional programs are hidden. */
const unhidden = '/bin/ps';

function isPlain(command: string, args: readonly string[]): boolean {
  // So the harness starts programs of the project.
  if (command === 'env' && args[0] === '-u' && args[2] !== undefined)
    return isPlain(path.basename(args[2]), args.slice(3));
  // So the product asks whether another account can enter a folder.
  if (command === 'sh' && args[1] === 'test -x "$0"') return true;
  if (command === 'sh' && args[0] === '-c' && args.length === 2 && isPlainScript(args[1] ?? '')) return true;
  return plainPrograms.has(command) && !starters.has(command);
}

/** Whether a script of a shell calls by their names what every test may use, and nothing by an expansion. */
function isPlainScript(script: string): boolean {
  if (/[`"'\\(){}<>[\]]|\$[^!]/.test(script)) return false;
  const commands = script.split(/[;&|\n]+/).map((each) => each.trim().replace(/^exec\s+/, ''));
  return commands.every((each) => each === '' || isPlain(path.basename(each.split(/\s+/)[0] ?? ''), []));
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
