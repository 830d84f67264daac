import { spawnSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';

const module = path.join(import.meta.dirname, 'fast-check.ts');

/** What a property draws in a process of its own: the seed in force, and the numbers. */
function drawn(seed?: string): { readonly status: number | null; readonly said: string } {
  const { PARALLAX_PROPERTY_SEED: _own, ...env } = process.env;
  const program = `
    const { default: fc } = await import(${JSON.stringify(module)});
    const draws = [];
    fc.assert(fc.property(fc.nat(), (n) => { draws.push(n); }));
    console.log(JSON.stringify([fc.readConfigureGlobal().seed ?? null, draws]));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { ...env, ...(seed === undefined ? {} : { PARALLAX_PROPERTY_SEED: seed }) },
  });
  return { status, said: status === 0 ? stdout : stderr };
}

t.test('properties draw from one seed, from a named one, or anew', async (t) => {
  const usual = drawn();
  t.equal(usual.status, 0, usual.said);
  t.match(usual.said, /^\[20260711,\[\d/);
  t.equal(drawn().said, usual.said);
  t.match(drawn('7').said, /^\[7,/);
  t.match(drawn('random').said, /^\[null,/);
  t.not(drawn('random').said, drawn('random').said);
  t.match(drawn('seven').said, /PARALLAX_PROPERTY_SEED is a whole number or "random"/);
});
