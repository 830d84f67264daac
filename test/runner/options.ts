import { parseArgs } from 'node:util';
import { stages } from './stages.ts';
import type { Stage } from './stages.ts';

export const usage = `usage: npm test -- [PATTERN …] [--stage NAME,…] [--changed [--since COMMIT]] [--jobs N] [--repeat N] [--alone] [--shuffle [--seed N]]
                   [--load N] [--list] [--tap] [--note]

Without anything else: the stages ${namesOf('usual')}. \`npm run test:gate\` runs ${namesOf('gate')}.
  PATTERN       files of any stage whose path has this in it
  --stage       only these stages; there are ${stages.map(({ name }) => name).join(', ')}
  --changed     only files that import what has changed since the last commit, at whatever distance; --since: since another one
  --jobs        cores to fill; all of the machine's when absent
  --repeat      each file so often
  --alone       each file in a process of its own, as PATTERN, --changed and --repeat have it
  --shuffle     in a drawn order, which is told; --seed repeats it
  --load        so many processes beside it that only compute
  --list        the files, without running them
  --tap         all that the files print, as TAP
  --note        writes what slow files took into test/runner/slow-files.json, by which later runs begin with the slowest, and the planted faults
                that the stages have noticed into test/runner/caught.json, of which later runs must notice each`;

export type Options = {
  readonly patterns: readonly string[];
  readonly stages: readonly Stage[];
  /** The commit since which something must have changed. */
  readonly since: string | undefined;
  readonly jobs: number | undefined;
  readonly repeat: number;
  /** No file shares a process with others. */
  readonly isAlone: boolean;
  /** By which the order is drawn; undefined: the slowest first. */
  readonly seed: number | undefined;
  readonly load: number;
  readonly isListOnly: boolean;
  readonly isRaw: boolean;
  readonly isNoting: boolean;
};

/** @throws an error that says what is wrong with the arguments */
export function readOptions(args: readonly string[], drawSeed: () => number): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      stage: { type: 'string', multiple: true },
      tier: { type: 'string' },
      changed: { type: 'boolean', default: false },
      since: { type: 'string' },
      jobs: { type: 'string' },
      repeat: { type: 'string', default: '1' },
      alone: { type: 'boolean', default: false },
      shuffle: { type: 'boolean', default: false },
      seed: { type: 'string' },
      load: { type: 'string', default: '0' },
      list: { type: 'boolean', default: false },
      tap: { type: 'boolean', default: false },
      note: { type: 'boolean', default: false },
    },
  });
  const named = (values.stage ?? []).flatMap((text) => text.split(','));
  for (const name of named) {
    if (!stages.some((stage) => stage.name === name)) {
      throw new Error(`there is no stage ${name}; there are ${stages.map((stage) => stage.name).join(', ')}`);
    }
  }
  const isBySelection = positionals.length > 0 || values.changed || values.since !== undefined;
  return {
    patterns: positionals,
    stages: stages.filter(({ name, tier, isBare }) =>
      named.length > 0 ? named.includes(name) : isBySelection ? isBare !== true : tier === (values.tier ?? 'usual'),
    ),
    since: values.since ?? (values.changed ? 'HEAD' : undefined),
    jobs: values.jobs === undefined ? undefined : numberOf('jobs', values.jobs, 1),
    repeat: numberOf('repeat', values.repeat, 1),
    isAlone: values.alone || isBySelection || values.repeat !== '1',
    seed: values.seed !== undefined ? numberOf('seed', values.seed, 0) : values.shuffle ? drawSeed() : undefined,
    load: numberOf('load', values.load, 0),
    isListOnly: values.list,
    isRaw: values.tap,
    isNoting: values.note,
  };
}

function numberOf(name: string, text: string, min: number): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < min) throw new Error(`--${name} is a whole number from ${min} on`);
  return number;
}

function namesOf(tier: Stage['tier']): string {
  return stages
    .filter((stage) => stage.tier === tier)
    .map(({ name }) => name)
    .join(', ');
}
