import { parseArgs } from 'node:util';
import { loadWithStandIns } from './hooks.ts';
import { simulateMany } from './many.ts';
import { mutants, mutantsCalled } from './mutants.ts';

const usage = `usage: npm run simulate -- --seed N [--steps M] [--without I,J] [--verbose]
       npm run simulate -- --from N --to M

One world, or many, each determined by its seed. Ends with 1 when a promise was broken, and says how to see it again.
  --steps M      trouble ends after so many steps; then everything heals and is judged
  --without I,J  these events of its plan do not happen
  --verbose      tells everything that happens
  --mutant NAME  without a mechanism: ${mutants.map(({ name }) => name).join(', ')}
  --signed       batches have their true signatures, which takes longer`;

const given = readArguments();
if (given === undefined) {
  console.error(usage);
  process.exitCode = 2;
} else if (given.seed === undefined) {
  process.exitCode = await many(given);
} else {
  process.exitCode = await one({ ...given, seed: given.seed });
}

type Given = NonNullable<typeof given>;

async function one(given: Given & { readonly seed: number }): Promise<number> {
  loadWithStandIns({ mutants: mutantsCalled(given.mutant), isSigned: given.isSigned });
  const { run } = await import('./run.ts');
  const { reportOf } = await import('./report.ts');
  const { shrink } = await import('./shrink.ts');
  const onLine = given.isVerbose ? (line: string) => console.log(line) : undefined;
  const result = await run({ seed: given.seed, without: given.without, steps: given.steps, onLine });
  if (result.isKept) {
    console.log(JSON.stringify({ seed: given.seed, ...result.figures }));
    return 0;
  }
  console.log(reportOf(result, { isShrunk: false }));
  if (given.without.length > 0 || given.steps !== undefined) return 1;
  const smaller = await shrink(result);
  console.log(`\n---- the same with ${result.plan.events.length - smaller.without.length} of its events\n`);
  console.log(reportOf(smaller.result, { isShrunk: true }));
  return 1;
}

async function many({ from, to, mutant, isSigned }: Given): Promise<number> {
  const started = performance.now();
  const told = await simulateMany({ from, to, mutant, isSigned });
  for (const { seed, message } of told.broken)
    console.log(`seed ${seed}: ${message}\n  npm run simulate -- --seed ${seed}`);
  const seconds = (performance.now() - started) / 1_000;
  console.log(JSON.stringify({ ...told, broken: told.broken.length, seconds: Math.round(seconds) }));
  return told.broken.length === 0 ? 0 : 1;
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string' },
        from: { type: 'string' },
        to: { type: 'string' },
        steps: { type: 'string' },
        without: { type: 'string' },
        mutant: { type: 'string' },
        signed: { type: 'boolean' },
        verbose: { type: 'boolean' },
      },
    });
    const seed = values.seed === undefined ? undefined : numberOf(values.seed);
    if (values.mutant !== undefined && mutantsCalled(values.mutant).length === 0) return undefined;
    if (seed === undefined && (values.from === undefined || values.to === undefined)) return undefined;
    return {
      seed,
      from: numberOf(values.from ?? '1'),
      to: numberOf(values.to ?? '1'),
      steps: values.steps === undefined ? undefined : numberOf(values.steps),
      without: values.without?.split(',').map(numberOf) ?? [],
      mutant: values.mutant,
      isSigned: values.signed === true,
      isVerbose: values.verbose === true,
    };
  } catch {
    return undefined;
  }
}

function numberOf(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${text} is no number`);
  return number;
}
