import { globSync } from 'node:fs';

/** When a stage runs: at `npm test`, at `npm run test:gate`, or only when it is named. */
export type Tier = 'usual' | 'gate' | 'named';

export type Stage = {
  readonly name: string;
  readonly tier: Tier;
  /** Globs of its files. A file belongs to the first stage that has it. */
  readonly files: readonly string[];
  /** The part of a core that a file uses on average. A file that mostly waits leaves room for others. */
  readonly cores: number;
  /** After so long without an end a file has failed. */
  readonly timeoutS: number;
  /** True for what kills processes, measures or judges the gate: nothing else runs beside it. */
  readonly isAlone?: boolean;
  /** True: programs that a plain system lacks cannot be found. */
  readonly isBare?: boolean;
  /** True: files of one folder share a process, and so what they import, which takes most of them longer than their tests. */
  readonly isShared?: boolean;
};

/** End-to-end stories of `npm test`: from `npm start` to a verdict of several probes and to a message, and what strangers must not see. */
const stories = [
  'test/e2e/start.test.ts',
  'test/e2e/three-probes.test.ts',
  'test/e2e/alert-mail.test.ts',
  'test/e2e/agent-offline.test.ts',
  'test/e2e/consensus-liar.test.ts',
];

/** The access matrix with one of the two walls taken away: each proves that the other one holds, and the matrix itself that it would notice. */
const walls = ['test/contract/access-without-*.test.ts'];

/**
 * Unit and contract tests that try so much that each takes longer than twenty others: floods of hostile requests, every check type against every bad
 * peer, commands as processes. They would make `npm test` twice as long.
 */
const slowFiles = [
  'test/contract/{bad-input,generated-python-client,hostile-*,parameters}.test.ts',
  'packages/checks/src/{contract-secrets,leaks,pagespeed}.test.ts',
  'packages/checks/src/net/address-policy-outside.test.ts',
  'packages/embedded/src/postgres.test.ts',
  'probe-agent/src/workers/pool.test.ts',
  'control-plane/src/commands/*.test.ts',
  'control-plane/src/identity/plans/limits.test.ts',
  'control-plane/src/installation/backup/backup.test.ts',
  'control-plane/src/monitoring/check-results/ingest/central.test.ts',
  'control-plane/src/monitoring/check-results/recompute/damage.test.ts',
  'control-plane/src/monitoring/heartbeats/schedules/{calendar,cron}.test.ts',
  'control-plane/src/monitoring/monitors/{list/reference,simulate/ingest,transfer/round-trip}.test.ts',
  'control-plane/src/monitoring/probes/gateway.test.ts',
  'control-plane/src/reporting/scheduled-reports/{files,killed}.test.ts',
  'control-plane/src/reporting/sla/pdf/render.test.ts',
  'control-plane/src/reporting/status-pages/html/in-browser.test.ts',
  'control-plane/src/reporting/status-pages/subscribers/telling.test.ts',
  'control-plane/src/response/channels/contract.test.ts',
  'control-plane/src/response/maintenance/recurrence/occurrences.test.ts',
  'control-plane/src/response/webhooks/{database-killed,killed,sending}.test.ts',
  'control-plane/src/supervisor/up.test.ts',
  'test/unit/loaded-modules.test.ts',
];

const unitFiles = [
  'packages/*/src/**/*.test.ts',
  'control-plane/src/**/*.test.ts',
  'probe-agent/src/**/*.test.ts',
  'test/unit/**/*.test.ts',
];

export const stages: readonly Stage[] = [
  { name: 'slow', tier: 'gate', files: slowFiles, cores: 0.66, timeoutS: 600, isShared: true },
  { name: 'unit', tier: 'usual', files: unitFiles, cores: 0.66, timeoutS: 240, isShared: true },
  { name: 'stories', tier: 'usual', files: stories, cores: 0.5, timeoutS: 300 },
  { name: 'walls', tier: 'gate', files: walls, cores: 0.66, timeoutS: 600 },
  { name: 'contract', tier: 'usual', files: ['test/contract/*.test.ts'], cores: 0.66, timeoutS: 600, isShared: true },
  { name: 'end-to-end', tier: 'gate', files: ['test/e2e/*.test.ts'], cores: 0.5, timeoutS: 900 },
  { name: 'simulation', tier: 'gate', files: ['test/simulation/*.test.ts'], cores: 1, timeoutS: 900 },
  { name: 'gate', tier: 'gate', files: ['test/gate/*.test.ts'], cores: 1, timeoutS: 600 },
  { name: 'faults', tier: 'gate', files: ['test/faults/*.test.ts'], cores: 0.5, timeoutS: 1_200 },
  { name: 'bare', tier: 'gate', files: unitFiles, cores: 0.66, timeoutS: 240, isShared: true, isBare: true },
  { name: 'mutants', tier: 'named', files: ['test/mutation/*.test.ts'], cores: 1, timeoutS: 900 },
];

/** A test file with its stage. */
export type Planned = { readonly file: string; readonly stage: Stage };

/**
 * Files of stages, each once: what an earlier stage has is not in a later one, except in one that runs them in another way.
 * @param root of the project; files are relative to it
 */
export function plannedFiles(root: string, chosen: readonly Stage[]): Planned[] {
  const planned: Planned[] = [];
  const taken = new Set<string>();
  for (const stage of stages) {
    const files = globSync([...stage.files], { cwd: root }).sort();
    const own = stage.isBare === true ? files : files.filter((file) => !taken.has(file));
    for (const file of own) taken.add(file);
    if (chosen.includes(stage)) planned.push(...own.map((file) => ({ file, stage })));
  }
  return planned;
}
