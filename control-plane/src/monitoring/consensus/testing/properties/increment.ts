import fc from '@parallax/testkit/fast-check';
import { ranges, timeline } from '../../batch.ts';
import { createMonitorFold } from '../../increment.ts';
import { play } from '../../test-histories.ts';
import { at, fresh } from '../../test-support.ts';
import type { RangeEdit, StoredResult, Transition } from '../../types.ts';
import { life, overS } from '../lives.ts';
import { holds } from './property.ts';
import type { Property } from './property.ts';

/* The increment beside the batch form, and what it hands out. */

/** Of several cuts of a list, the pieces. */
function pieces<Item>(items: readonly Item[], cuts: readonly number[]): Item[][] {
  const ends = [...new Set(cuts.map((cut) => cut % (items.length + 1))), items.length].sort((a, b) => a - b);
  return ends.map((end, index) => items.slice(ends[index - 1] ?? 0, end));
}

const latest = (rows: readonly StoredResult[]): number =>
  rows.reduce((last, row) => Math.max(last, row.eUs), at(overS));
const shown = (transitions: readonly Transition[]): string =>
  transitions.map(({ from, to, atUs }) => `${from} ${to} ${atUs}`).join();

export const incrementProperties: readonly Property[] = [
  holds(
    'the increment equals the batch: late, twice, split, restarted, reconfigured, reset, at any moment',
    fc.property(life, ({ history }) => {
      const ingester = play(history);
      for (const voter of [null, 0, 1, 2, 3, 4]) {
        const { stored, batch } = ingester.compare(voter);
        if (stored !== batch) throw new Error(`voter ${voter}\nstored ${stored}\nbatch  ${batch}`);
      }
      if (ingester.status !== ingester.statusNow()) throw new Error(`${ingester.status}, not ${ingester.statusNow()}`);
    }),
  ),
  holds(
    'made from all rows at once, the increment has the ranges and the evidence of the batch',
    fc.property(life, ({ inputs, rows }) => {
      const nowUs = latest(rows);
      const { edits } = createMonitorFold(fresh(inputs, { results: rows, nowUs })).take();
      const told = edits
        .filter(({ voter }) => voter === null)
        .map((edit) => (edit.op === 'insert' ? textOf(edit) : edit.op));
      const wanted = ranges(timeline(inputs, rows, at(-10), nowUs + 1).segments).map((run) =>
        textOf({ startedUs: run.fromUs, status: run.status, evidence: run.evidence }),
      );
      if (told.join('\n') !== wanted.join('\n')) throw new Error(`${told.join('\n')}\nbatch\n${wanted.join('\n')}`);
    }),
  ),
  holds(
    'made anew at any moment, the increment has nothing new to say',
    fc.property(life, fc.integer({ min: 0, max: 200 }), ({ history }, backS) => {
      const ingester = play(history);
      const count = ingester.transitions.length;
      ingester.restart(backS * 1_000_000);
      // What a reset made void is taken back by whoever finds it.
      if (ingester.inputs.resetUs !== null) return true;
      return ingester.take().edits.length === 0 && ingester.transitions.length === count;
    }),
  ),
  holds(
    'changes of the status follow on one another, and none is told twice',
    fc.property(life, ({ history }) => {
      const { transitions } = play(history);
      return transitions.every(
        ({ from, to }, index) => from !== to && from === (transitions[index - 1]?.to ?? 'UNKNOWN'),
      );
    }),
  ),
  holds(
    'the results of one round make at most one change of the status, however they are divided',
    fc.property(life, fc.array(fc.nat(), { maxLength: 5 }), ({ inputs, rows }, cuts) => {
      const nowUs = latest(rows);
      const whole = createMonitorFold(fresh(inputs, { nowUs: at(0) }));
      whole.apply(rows, nowUs);
      const parted = createMonitorFold(fresh(inputs, { nowUs: at(0) }));
      for (const part of pieces(rows, cuts)) parted.apply(part);
      parted.advance(nowUs);
      const transitions = whole.take().transitions;
      return transitions.length <= 1 && shown(parted.take().transitions) === shown(transitions);
    }),
  ),
  holds(
    'no time passes unseen: before the fold asks to be woken, nothing changes',
    fc.property(life, fc.integer({ min: 0, max: 300 }), ({ inputs, rows }, atS) => {
      const known = rows.filter((row) => row.eUs <= at(atS));
      const fold = createMonitorFold(fresh(inputs, { results: known, nowUs: at(atS) }));
      fold.take();
      const dueUs = Math.min(fold.nextExpiryUs, at(overS));
      if (dueUs <= at(atS) + 1) return true;
      fold.advance(dueUs - 1);
      return fold.take().edits.length === 0;
    }),
  ),
  holds(
    'results that are said to repeat leave nothing to take, and no earlier time to wake',
    fc.property(life, ({ inputs, rows }) => {
      const fold = createMonitorFold(fresh(inputs, { results: [], nowUs: at(-10) }));
      fold.take();
      // As an owner does it: whoever repeats is not looked at until the time that was asked for last.
      let dueUs = fold.nextExpiryUs;
      for (const row of rows.toSorted((a, b) => a.eUs - b.eUs)) {
        if (fold.repeat(row)) {
          if (fold.nextExpiryUs < Math.min(dueUs, at(overS)))
            throw new Error(`asked for ${dueUs}, now ${fold.nextExpiryUs}`);
          const { edits, transitions, rechecks } = fold.take();
          if (edits.length + transitions.length + rechecks.length > 0) throw new Error('there was something to take');
          continue;
        }
        if (typeof fold.apply([row]) === 'object') return true;
        fold.advance(row.eUs);
        fold.take();
        dueUs = fold.nextExpiryUs;
      }
      return true;
    }),
  ),
];

const textOf = ({
  startedUs,
  status,
  evidence,
}: Pick<Extract<RangeEdit, { op: 'insert' }>, 'startedUs' | 'status' | 'evidence'>): string =>
  JSON.stringify([startedUs, status, evidence]);
