import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { equivalents, isListed, isThis } from './equivalents.ts';
import { mutantsOfGroup } from './group-mutants.ts';
import type { Mutant } from './mutants.ts';
import { judgeAll } from './pool.ts';
import type { KnownTest, Verdict } from './pool.ts';
import { isLeft, percent, tableOf } from './score.ts';
import type { Judged } from './score.ts';
import { chosen } from './targets.ts';

const usage = `usage: npm run test:mutants -- [--only PART] [--jobs N] [--tries N] [--listed] [--to FILE]

Changes the modules that decide, one small thing at a time, and demands that their tests notice at least 95 % of it in each group.
  --only    modules whose path holds this
  --jobs    processes; 2 when absent
  --tries   how often properties are tried on what is left after a first look; 100 times when absent, 0: not again
  --listed  the mutants of test/mutation/equivalents.ts instead of all others: none of them may be noticed
  --to      a file for the verdicts, as JSON`;

const leastPercent = 95;
/** How often properties are tried at a first look. With fewer the tests that demand a share of hard cases do not pass by themselves. */
const firstTries = 30;
const everyMs = 15_000;

const given = readArguments();
if (given === undefined) {
  console.error(usage);
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await run(given);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

async function run({ only, jobs, tries, listed, to }: NonNullable<typeof given>): Promise<number> {
  const groups = chosen(only).map((group) => ({ ...group, ...mutantsOfGroup(group) }));
  const all: Mutant[] = groups.flatMap(({ mutants }) => mutants);
  const judged: Judged[] = [];
  let isGood = true;
  for (const { name, mutants, isTriedMore = false } of groups) {
    let left = [...mutants.keys()].filter((id) => isListed(mutants[id] as Mutant) === listed);
    const own = new Map<number, Judged>();
    for (const runs of isTriedMore && tries > 0 ? [firstTries, tries] : [firstTries]) {
      if (left.length === 0) break;
      console.log(`== ${name}: ${left.length} mutants, properties ${runs} times`);
      const progress = createProgress(left.length);
      await judgeAll(
        { group: name, only: only ?? '', ids: left, jobs, propertyRuns: runs },
        (verdict) => {
          own.set(verdict.id, { mutant: mutants[verdict.id] as Mutant, verdict });
          progress();
        },
        (tests) => console.log(`   ${tests.length} tests in ${secondsOf(tests)} s`),
      );
      left = left.filter((id) => own.get(id)?.verdict.fate === 'survived');
    }
    const verdicts = [...own.values()];
    for (const { mutant, verdict } of verdicts) {
      if (isLeft(verdict) !== listed || verdict.fate === 'lost') console.log(shown(mutant, verdict));
    }
    if (listed ? verdicts.some(({ verdict }) => !isLeft(verdict)) : percent(verdicts) < leastPercent) isGood = false;
    judged.push(...verdicts);
  }
  if (to !== undefined) writeFileSync(to, `${JSON.stringify(judged, null, 1)}\n`);
  if (listed) return isGood ? 0 : 1;
  console.log(tableOf(judged, (file) => all.filter((mutant) => mutant.file === file && isListed(mutant)).length));
  const files = new Set(all.map(({ file }) => file));
  const stale = equivalents.filter((each) => files.has(each.file) && !all.some((mutant) => isThis(each, mutant)));
  for (const { file, text, before, after } of stale) {
    console.log(`listed as equivalent and not there: ${file}: ${before} → ${after} in: ${text}`);
  }
  return isGood && stale.length === 0 ? 0 : 1;
}

function shown({ file, line, text, operator, before, after }: Mutant, { fate, by }: Verdict): string {
  return `${fate}: ${file}:${line} ${operator}: ${before} → ${after || '(nothing)'}\n   ${text}${by === undefined ? '' : `\n   by ${by}`}`;
}

function secondsOf(tests: readonly KnownTest[]): string {
  return (tests.reduce((sum, { ms }) => sum + ms, 0) / 1_000).toFixed(1);
}

/** Says every now and then how many mutants are left and how long that will take. */
function createProgress(count: number): () => void {
  const startedMs = performance.now();
  let toldMs = startedMs;
  let done = 0;
  return () => {
    done += 1;
    const nowMs = performance.now();
    if (nowMs - toldMs < everyMs && done < count) return;
    toldMs = nowMs;
    const leftS = ((nowMs - startedMs) / done / 1_000) * (count - done);
    console.log(`   ${done} of ${count} judged, about ${Math.ceil(leftS)} s left`);
  };
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string' },
        jobs: { type: 'string', default: '2' },
        tries: { type: 'string', default: '100' },
        listed: { type: 'boolean', default: false },
        to: { type: 'string' },
      },
    });
    const [jobs, tries] = [Number(values.jobs), Number(values.tries)];
    const isGood = Number.isInteger(jobs) && jobs > 0 && Number.isInteger(tries) && tries >= 0;
    return isGood ? { ...values, jobs, tries } : undefined;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}
