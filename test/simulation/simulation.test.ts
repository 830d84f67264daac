import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { caught } from '../harness/caught.ts';
import { simulateMany } from './many.ts';
import { mutants } from './mutants.ts';

/* Whole installations on virtual time, each from a seed: what is promised is kept whatever happens to them. */

const main = path.join(path.dirname(fileURLToPath(import.meta.url)), 'main.ts');

/** As many as one core lives through in about half a minute. */
const worlds = Number(process.env['PARALLAX_WORLDS'] ?? 200);
/** A missing mechanism must be noticed within so many worlds. */
const noticedWithin = 100;

t.test(`${worlds} worlds keep every promise`, { timeout: 900_000 }, async (t) => {
  const told = await simulateMany({ from: 1, to: worlds });
  t.same(told.broken, []);
  t.comment(JSON.stringify(told));
  t.ok(told.downs > worlds / 10, `outages were seen: ${told.downs}`);
  t.ok(told.compared > worlds, `timelines were compared with their definition: ${told.compared}`);
});

t.test('a seed determines all that happens, in every process', async (t) => {
  const one = await simulateMany({ from: 40, to: 45 });
  const other = await simulateMany({ from: 40, to: 45 });
  t.same(other, one);
  const next = await simulateMany({ from: 41, to: 46 });
  t.not(next.hash, one.hash);
});

for (const { name } of mutants) {
  t.test(`a world without its ${name} is found out`, { timeout: 600_000 }, async (t) => {
    const told = await simulateMany({ from: 1, to: noticedWithin, mutant: name, isFirstEnough: true });
    const isNoticed = t.equal(told.broken.length, 1, `none of ${told.worlds} worlds noticed`);
    caught(t, isNoticed, `simulation without its ${name}`);
    t.comment(`seed ${told.broken[0]?.seed ?? 0}: ${told.broken[0]?.message.slice(0, 200) ?? ''}`);
  });
}

t.test(
  'a broken promise is told with its seed, its step, its events and how to see it again',
  { timeout: 300_000 },
  async (t) => {
    const { status, stdout } = spawnSync(process.execPath, [main, '--seed', '2', '--mutant', 'cursor'], {
      encoding: 'utf8',
    });
    t.equal(status, 1);
    t.match(stdout, /seed 2, step \d+, trace [0-9a-f]{16}/);
    t.match(stdout, /none is doubled: /);
    t.match(stdout, /again: npm run simulate -- --seed 2 --without [\d,]+ --verbose/);
  },
);

t.test('what is asked wrongly is answered with how to ask', async (t) => {
  for (const given of [[], ['--seed', 'x'], ['--seed', '1', '--mutant', 'none'], ['--sed', '1']]) {
    const { status, stderr } = spawnSync(process.execPath, [main, ...given], { encoding: 'utf8' });
    t.equal(status, 2, given.join(' '));
    t.match(stderr, /usage: npm run simulate/);
  }
});

t.test('one world tells what it was like', async (t) => {
  const { status, stdout } = spawnSync(process.execPath, [main, '--seed', '3', '--steps', '2000'], {
    encoding: 'utf8',
  });
  t.equal(status, 0);
  t.match(JSON.parse(stdout), { seed: 3, compared: Number, hash: /^[0-9a-f]{16}$/ });
});
