import { execFileSync } from 'node:child_process';

/** Instants at which an expression elapses after another, in milliseconds, as `systemd-analyze calendar` says; null when it refuses the expression. */
export function systemdElapses(expression: string, afterMs: number, iterations: number): readonly number[] | null {
  const base = `${new Date(afterMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  try {
    const text = execFileSync(
      'systemd-analyze',
      ['calendar', `--iterations=${iterations}`, `--base-time=${base}`, expression],
      { encoding: 'utf8', env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' }, maxBuffer: 64 * 1_048_576, stdio: 'pipe' },
    );
    return [...text.matchAll(/(?:Next elapse|Iter\. #\d+): \w{3} (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/g)].map(
      ([, day, time]) => Date.parse(`${day}T${time}Z`),
    );
  } catch (error) {
    if ((error as { status?: number }).status === 1) return null;
    throw error;
  }
}
