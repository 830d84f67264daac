import { loadWithStandIns } from './hooks.ts';
import type { ManyOptions, Stretch } from './many.ts';
import { mutantsCalled } from './mutants.ts';

/* A process that lives through a stretch of worlds and tells its parent what they were like. */

const options = JSON.parse(process.argv[2] ?? '{}') as ManyOptions;
loadWithStandIns({ mutants: mutantsCalled(options.mutant), isSigned: options.isSigned === true });
const { run } = await import('./run.ts');

const told = {
  worlds: 0,
  steps: 0,
  simulatedUs: 0,
  results: 0,
  downs: 0,
  compared: 0,
  hash: 0,
  broken: [] as Stretch['broken'][number][],
};
for (let seed = options.from; seed <= options.to; seed += 1) {
  const result = await run({ seed });
  told.worlds += 1;
  if (!result.isKept) {
    told.broken.push({ seed, rule: result.rule, message: result.message });
    if (options.isFirstEnough === true) break;
    continue;
  }
  const { figures } = result;
  told.steps += figures.steps;
  told.simulatedUs += figures.simulatedUs;
  told.results += figures.results;
  told.downs += figures.downs;
  told.compared += figures.compared;
  told.hash = Math.imul(told.hash ^ Number.parseInt(figures.hash.slice(0, 8), 16), 0x01000193);
}
const stretch: Stretch = { ...told, hash: (told.hash >>> 0).toString(16).padStart(8, '0') };
process.send?.(stretch);
process.disconnect?.();
