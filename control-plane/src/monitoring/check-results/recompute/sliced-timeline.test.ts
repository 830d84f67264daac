import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { ranges, timeline } from '../../consensus/index.ts';
import type { RangeRun, StoredResult } from '../../consensus/index.ts';
import { arbitraryHistory } from '../../consensus/test-histories.ts';
import { at, inputsOf, result, seats } from '../../consensus/test-support.ts';
import { SlicedTimeline } from './sliced-timeline.ts';

const runs = Number(process.env['PARALLAX_PROPERTY_RUNS'] ?? 300);
const shown = (list: readonly RangeRun[]): string =>
  list.map(({ fromUs, toUs, status }) => `${status} ${fromUs - at(0)}–${toUs - at(0)}`).join(', ');

function sliced(
  inputs: Parameters<typeof timeline>[0],
  rows: readonly StoredResult[],
  sliceRows: number,
  untilUs: number,
) {
  const whole = new SlicedTimeline({ inputs, fromUs: at(-1), untilUs, before: [], votesAtStart: new Map(), sliceRows });
  const voting = rows.filter((row) => row.kind !== 'manual' && row.outcome !== 'skipped');
  whole.add(voting.toSorted((a, b) => a.eUs - b.eUs));
  return whole.finish();
}

t.test('slices of any size say what the batch form says of the whole', async () => {
  fc.assert(
    fc.property(arbitraryHistory, fc.integer({ min: 1, max: 30 }), ({ inputs, arrivals, stopS }, sliceRows) => {
      const rows = arrivals.map(({ row }) => row);
      const untilUs = at(stopS) + 1;
      const whole = timeline(inputs, rows, at(-1), untilUs);
      const parts = sliced(inputs, rows, sliceRows, untilUs);
      const tell = (of: (voter: number | null) => readonly RangeRun[]): string =>
        [null, ...whole.perVoter.keys()].map((voter) => `${voter}: ${shown(of(voter))}`).join('\n');
      const expected = tell((voter) => ranges(voter === null ? whole.segments : (whole.perVoter.get(voter) ?? [])));
      const found = tell((voter) => (voter === null ? parts.all : (parts.perVoter.get(voter) ?? [])));
      if (expected !== found) throw new Error(`slices of ${sliceRows}\nshould be\n${expected}\nis\n${found}`);
      return parts.status === whole.segments.at(-1)?.status;
    }),
    { numRuns: runs, interruptAfterTimeLimit: 10_000 },
  );
});

t.test('a long outage of timeouts that began with a refusal stays DOWN', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu') });
  const rows = Array.from({ length: 60 }, (_, index) =>
    result(1, 10 * index, index === 3 ? 'fail' : index === 30 ? 'probe_error' : 'timeout'),
  );
  const whole = timeline(inputs, rows, at(-1), at(700));
  for (const size of [1, 5, 7, 20]) {
    t.equal(shown(sliced(inputs, rows, size, at(700)).all), shown(ranges(whole.segments)), `slices of ${size}`);
  }
});

t.test('a timeline that begins in the middle of an outage is told by what is known of before', async (t) => {
  const inputs = inputsOf({ assignments: seats('eu') });
  const rows = Array.from({ length: 30 }, (_, index) => result(1, 10 * index, index === 0 ? 'fail' : 'timeout'));
  const fromUs = at(150);
  const whole = timeline(inputs, rows, fromUs, at(300));
  const from = (votesAtStart: ReadonlyMap<number, 'DOWN' | 'TIMEOUT'>, untilUs: number) => {
    const middle = new SlicedTimeline({
      inputs,
      fromUs,
      untilUs,
      before: rows.slice(9, 15),
      votesAtStart,
      sliceRows: 4,
    });
    middle.add(rows.slice(15));
    return middle;
  };
  t.equal(shown(from(new Map([[1, 'DOWN']]), at(300)).finish().all), shown(ranges(whole.segments)));
  t.match(shown(from(new Map(), at(300)).finish().all), /TIMEOUT/);
  t.ok(from(new Map(), at(200)).isComplete);
  t.notOk(from(new Map(), at(290)).isComplete, 'a later result may confirm');
});
