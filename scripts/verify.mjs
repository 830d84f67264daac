// The gate: every step that needs no running product. `npm run verify` runs all; `node scripts/verify.mjs types areas` only those named.
import { availableParallelism } from 'node:os';
import { jobs } from './verify/jobs.mjs';

const all = jobs.flatMap(({ steps }) => steps);
const wanted = process.argv.slice(2);
const unknown = wanted.filter((step) => !all.includes(step));
if (unknown.length > 0) {
  console.error(`no such step: ${unknown.join(', ')}; there are: ${all.join(', ')}`);
  process.exit(2);
}

const started = performance.now();
const results = await sideBySide(
  jobs
    .map(({ steps, run }) => ({ run, steps: steps.filter((step) => wanted.length === 0 || wanted.includes(step)) }))
    .filter(({ steps }) => steps.length > 0),
);
results.sort((a, b) => Number(b.ok) - Number(a.ok));
console.log(`\n${results.map(tableLine).join('\n')}\n     all        ${secondsSince(started).padStart(5)} s`);
const failed = results.filter(({ ok }) => !ok).map(({ step }) => step);
if (failed.length > 0) {
  console.error(`verify failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

/** Runs as many jobs at once as there are cores, and answers the results of their steps. */
async function sideBySide(waiting) {
  const results = [];
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const ended = await finish(job);
      for (const result of ended) print(result);
      results.push(...ended);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return results;
}

/** The results of a job's steps; steps that one program served have its time in common. */
async function finish({ steps, run }) {
  const began = performance.now();
  const outcomes = await run(steps);
  const seconds = secondsSince(began);
  return steps.map((step) => {
    const { ok, output } = outcomes[step] ?? { ok: false, output: 'the step answered nothing' };
    return { step, ok, seconds, output, alone: steps.length === 1 };
  });
}

function print({ step, ok, output }) {
  if (ok) console.log(`ok   ${step.padEnd(10)} ${output.split('\n').at(-1) || 'nothing found'}`);
  else console.log(`FAIL ${step}\n${output.replaceAll(/^/gm, '     ')}`);
}

function tableLine({ step, ok, seconds, alone }) {
  return `${ok ? 'ok  ' : 'FAIL'} ${step.padEnd(10)} ${seconds.padStart(5)} s${alone ? '' : '  in common'}`;
}

function secondsSince(instant) {
  return ((performance.now() - instant) / 1000).toFixed(1);
}
