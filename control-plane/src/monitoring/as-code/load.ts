import path from 'node:path';
import { readAsCode } from './document/read.ts';
import type { AsCodeFile, FileMonitor } from './document/read.ts';
import { mostCharacters } from './document/yaml.ts';
import { AsCodeError, faultsError } from './errors.ts';
import type { Fault } from './errors.ts';
import { readText } from './gateway.ts';
import type { Wanted } from './plan/plan.ts';
import { wantedMonitor } from './plan/wanted.ts';
import { resolveSecret } from './secrets.ts';
import type { WantedSecret } from './secrets.ts';

/** As the bound of a text setting: a key or certificate is far smaller. */
const mostSecretBytes = 64 * 1_024;
/** A character has up to four bytes in UTF-8. */
const mostFileBytes = 4 * mostCharacters;

/**
 * Reads files, and the secrets that they name from the environment and from other files, whose paths are relative to the file that names them.
 * @throws AsCodeError with the place of everything that is wrong; values of secrets are not part of it
 */
export function loadWanted(
  files: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Wanted & { readonly workspace: string | number | undefined } {
  const read = files.map((file) => ({ file, ...readAsCode(readText(file, mostFileBytes), file) }));
  const faults: Fault[] = [];
  const refuse = (fault: Fault): void => void faults.push(fault);
  const workspace = commonWorkspace(read, refuse);
  const spokenOf = (key: 'monitors' | 'groups') => read.filter((each) => each[key] !== undefined);
  const monitors = spokenOf('monitors').flatMap(({ file, monitors: found }) =>
    (found ?? []).map((monitor) => wantedMonitor(monitor, secretsOf(monitor, path.dirname(file), env, refuse), refuse)),
  );
  if (faults.length > 0) throw faultsError(faults);
  return {
    workspace,
    monitors: spokenOf('monitors').length === 0 ? undefined : monitors,
    groups: spokenOf('groups').length === 0 ? undefined : read.flatMap(({ groups }) => groups ?? []),
  };
}

function commonWorkspace(files: readonly AsCodeFile[], refuse: (fault: Fault) => void): string | number | undefined {
  const [first, ...others] = files.filter(({ workspace }) => workspace !== undefined);
  for (const { workspace, workspacePlace } of others) {
    if (workspace === first?.workspace) continue;
    const message = `this file is of the workspace ${JSON.stringify(workspace)}, another of ${JSON.stringify(first?.workspace)}: apply them apart`;
    refuse({ place: workspacePlace, message });
  }
  return first?.workspace;
}

function secretsOf(
  { secrets, placeOf }: FileMonitor,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  refuse: (fault: Fault) => void,
): Record<string, WantedSecret> {
  const all: [string, WantedSecret][] = [];
  for (const [name, sources] of Object.entries(secrets)) {
    const place = placeOf('settings', name);
    try {
      const secret = resolveSecret(sources, (source) => {
        const text = 'from_env' in source ? env[source.from_env] : fromFile(path.resolve(folder, source.from_file));
        if (text !== undefined && text !== '') return text;
        throw new AsCodeError(
          'from_env' in source ? `the variable ${source.from_env} is not set` : `${source.from_file} is empty`,
        );
      });
      if (secret === undefined)
        throw new AsCodeError('some are kept and some given: give all, or keep all with { kept: true }');
      all.push([name, secret]);
    } catch (error) {
      if (!(error instanceof AsCodeError)) throw error;
      refuse({ place, message: `${name}: ${error.message}` });
    }
  }
  return Object.fromEntries(all);
}

/** Without its last line end, which editors add. */
function fromFile(file: string): string {
  return readText(file, mostSecretBytes).replace(/\r?\n$/, '');
}
