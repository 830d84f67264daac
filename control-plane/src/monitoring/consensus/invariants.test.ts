import t from 'tap';
import { features, featuresOf } from './testing/features.ts';
import type { Feature } from './testing/features.ts';
import { makeLife } from './testing/lives.ts';
import { properties } from './testing/properties.ts';

/* The invariants of the consensus rules, on the batch form; the increment is held to them by being equal to it. */

const numRuns = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 200);

for (const { name, check } of properties) {
  void t.test(name, async () => {
    check({ numRuns });
  });
}

void t.test('no two statements have one name', async (t) => {
  t.equal(new Set(properties.map(({ name }) => name)).size, properties.length);
});

void t.test('the lives that they are tried on are hard to judge in a fair share', async (t) => {
  const lives = 1_200;
  const counts = new Map<Feature, number>(features.map((feature) => [feature, 0]));
  for (let seed = 1; seed <= lives; seed += 1)
    for (const feature of featuresOf(makeLife(seed, 1 + (seed % 8))))
      counts.set(feature, (counts.get(feature) ?? 0) + 1);
  for (const [feature, count] of counts) {
    t.comment(`${((100 * count) / lives).toFixed(1)} % have ${feature}`);
    t.ok(count >= 0.03 * lives, `${feature}: ${count} of ${lives}`);
  }
});
