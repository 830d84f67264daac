import { spawn } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const runner = 'test/runner/main.ts';

/** Tests that the gate runs a sample of read it by `packages/testkit/src/extent.ts`. */
const whole = { PARALLAX_TEST_EXTENT: 'whole' };

/** Parts of the long run that are programs of their own: what the gate takes a sample of, at full length. */
export const suites = {
  /** Every hostile part in every place of every route and check type, and a thousand runs of each type that leave nothing behind. */
  hostile: [
    {
      args: [
        runner,
        'test/contract/hostile-',
        'test/contract/bad-input',
        'test/contract/generated-client',
        'packages/checks/src/leaks',
        'packages/checks/src/net/address-policy-outside',
        'test/e2e/outsider',
      ],
      env: whole,
    },
  ],
  /** Processes that are killed: two minutes of each fault, 200 kills while alerts are sent and while webhooks are, a storm of 10,000 monitors. */
  faults: [
    {
      args: [runner, '--stage', 'faults'],
      env: { ...whole, PARALLAX_FAULT_SECONDS: '120', PARALLAX_FAULT_BROKER_PAUSE_MS: '60000' },
    },
    {
      // By itself, since it takes longer than the runner waits for a file.
      args: ['control-plane/src/response/webhooks/killed.test.ts'],
      env: { PARALLAX_WEBHOOK_KILLS: '200', TAP_TIMEOUT: '3600' },
    },
    {
      args: ['control-plane/src/response/webhooks/database-killed.test.ts'],
      env: { PARALLAX_WEBHOOK_DATABASE_KILLS: '30', TAP_TIMEOUT: '3600' },
    },
  ],
  /** Months from three seeds, in which every question is asked about every monitor. */
  months: ['1', '2', '3'].map((seed) => ({
    args: [runner, 'test/e2e/month.test.ts'],
    env: { PARALLAX_MONTH_THOROUGH: '1', PARALLAX_MONTH_SEED: seed },
  })),
  /** All mutants of the modules that decide, then those that no test may notice. */
  mutants: [
    { args: [runner, '--stage', 'mutants'], env: {} },
    { args: ['test/mutation/main.ts'], env: {} },
    { args: ['test/mutation/main.ts', '--listed'], env: {} },
  ],
} as const;

export type Suite = keyof typeof suites;

/** Runs the programs of a suite one after another; their output is that of this process. @returns how many of them failed */
export async function runSuite(suite: Suite): Promise<number> {
  let failed = 0;
  for (const { args, env } of suites[suite]) {
    console.error(`== ${suite}: ${args.join(' ')}`);
    const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
    const stop = () => child.kill('SIGTERM');
    process.once('SIGTERM', stop).once('SIGINT', stop);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    process.off('SIGTERM', stop).off('SIGINT', stop);
    if (code !== 0) failed += 1;
  }
  return failed;
}
