import { Problem } from '@parallax/api-contract';
import type { InputError } from '@parallax/api-contract';
import { isMonitorProtocol, kindOf } from '../kinds.ts';
import type { MonitorRow } from '../queries.ts';
import { composeSettings, requireTarget } from '../settings.ts';

/** What a monitor lacks before it can be checked. */
export type Lack = { readonly detail: string; readonly errors: readonly InputError[] };

/**
 * Why a paused monitor cannot be resumed: a file brings no secrets along, and some checks are not valid without theirs. Each look would be the
 * probes' own error, and the monitor UNKNOWN for ever without a word of why. A secret that the check can do without is no reason: whoever
 * resumes may know that the target no longer asks for it, and finds out at the first check otherwise.
 * @param secrets the stored secret settings, opened
 * @returns undefined when it may be resumed
 */
export function lackOf(
  monitor: Pick<MonitorRow, 'id' | 'protocol' | 'url' | 'settings'>,
  secrets: Readonly<Record<string, unknown>>,
): Lack | undefined {
  const { protocol } = monitor;
  // One that no build knows is for who upgraded; its settings cannot be judged.
  if (!isMonitorProtocol(protocol)) return undefined;
  const missing = kindOf(protocol).secretFields.filter((name) => !Object.hasOwn(secrets, name));
  if (missing.length === 0) return undefined;
  try {
    const settings = { ...monitor.settings, ...secrets };
    requireTarget(protocol, monitor.url, composeSettings(protocol, settings, { settings: undefined, topLevel: {} }));
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const errors = (error.errors ?? []).flatMap((each) => named(each, missing));
    const what = errors.map(({ path }) => path.split('/').slice(1).join('.')).join(', ');
    const detail = `monitor ${monitor.id} lacks a secret that its check needs: ${errors[0]?.message ?? error.message} Look at ${what}`;
    return { detail: `${detail}; PATCH the monitor with what is missing, then resume it`, errors };
  }
}

/** What is wrong, at a secret that may mend it: some rules are about the target, or the setting that needs the secret. */
function named(problem: InputError, missing: readonly string[]): InputError[] {
  const paths = problem.path.startsWith('/settings/')
    ? [problem.path]
    : missing.map((name) => `/settings/${name}` as const);
  return paths.map((path) => ({ ...problem, path, code: 'secret_missing' }));
}
