import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '@parallax/settings/programs';

/** The part of a tap test that says what is missing. */
type Sayer = { readonly comment: (text: string) => void; readonly fail: (text: string) => unknown };

/** What is no program and may be missing all the same. */
type Right = 'root' | 'network-namespaces' | 'mount-namespaces' | 'ping-permission';

const meanings: Readonly<Record<Right, string>> = {
  root: 'The tests do not run as root',
  'network-namespaces': 'This machine allows no network namespaces',
  'mount-namespaces': 'This machine allows no mount namespaces',
  'ping-permission': 'This account may not send pings',
};

/**
 * Whether a test has all that it needs: programs by their names, and `root` for the rights of root. What is missing is counted
 * (`countMissing`). Call it at the beginning of a test: `if (!needs(t, 'root', 'ip')) return;`
 */
export function needs(t: Sayer, ...names: readonly string[]): boolean {
  const missing = names.filter((name) => !isThere(name));
  for (const name of missing) countMissing(t, name);
  return missing.length === 0;
}

function isThere(name: string): boolean {
  return name === 'root' ? process.getuid?.() === 0 : findProgram(name) !== undefined;
}

/**
 * Says that something is missing on this machine, so that a test does not try what needs it. The test fails where
 * `PARALLAX_TEST_SERVERS` is `required`. The runner learns it from a file in the folder that `PARALLAX_TEST_MISSING_SERVERS` names; the
 * file has the name of what is missing.
 */
export function countMissing(t: Sayer, name: string): void {
  const reason = Object.hasOwn(meanings, name) ? meanings[name as Right] : `${name} is not installed`;
  const text = `${reason}, so the test does not try what needs it.`;
  if (process.env['PARALLAX_TEST_SERVERS'] === 'required') t.fail(text);
  else t.comment(text);
  const folder = process.env['PARALLAX_TEST_MISSING_SERVERS'];
  if (folder !== undefined) writeFileSync(join(folder, name), '');
}
