import t from 'tap';
import { caught } from '../harness/caught.ts';
import { equivalents, isThis } from './equivalents.ts';
import { mutantsOfGroup } from './group-mutants.ts';
import { judgeAll } from './pool.ts';
import { sampleOf } from './sample.ts';
import { isLeft, percent } from './score.ts';
import type { Judged } from './score.ts';
import { groups } from './targets.ts';

/** Mutants of each group that are tried here; `npm run test:mutants` tries all. */
const sizes: Readonly<Record<string, number>> = {
  consensus: 16,
  ingest: 8,
  packed: 8,
  quarantine: 6,
  ranges: 2,
  sla: 10,
};

t.test('of a fixed sample of mutants the tests notice nine in ten', { timeout: 300_000 }, async (t) => {
  const judged: Judged[] = [];
  for (const group of groups) {
    const all = mutantsOfGroup(group);
    const ids = sampleOf(all, sizes[group.name] ?? 0);
    t.ok(ids.length > 0, `mutants of ${group.name}`);
    await judgeAll({ group: group.name, only: '', ids, jobs: 1, propertyRuns: 30 }, (verdict) => {
      const mutant = all.mutants[verdict.id];
      if (mutant === undefined) return;
      judged.push({ mutant, verdict });
      const { file, line, before, after } = mutant;
      if (isLeft(verdict)) t.comment(`not noticed: ${file}:${line}: ${before} → ${after}`);
      caught(t, !isLeft(verdict), `mutant of ${file}: ${before} → ${after || 'nothing'} in ${mutant.text}`);
    });
  }
  t.ok(percent(judged) >= 90, `${percent(judged).toFixed(0)} % of ${judged.length} noticed`);
});

t.test('every mutant that is listed as equivalent is there', async (t) => {
  const all = groups.flatMap((group) => mutantsOfGroup(group).mutants);
  for (const listed of equivalents) {
    const { file, text, before, after } = listed;
    t.ok(
      all.some((mutant) => isThis(listed, mutant)),
      `${file}: ${before} → ${after} in: ${text}`,
    );
  }
});
