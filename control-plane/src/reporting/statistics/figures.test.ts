import { errorCodes } from '@parallax/checks';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { causeOf } from './cause.ts';
import { histogram } from './latency.ts';

void t.test('a cause names the error that most met, and how many failed', async (t) => {
  const refused = errorCodes.connect_refused;
  const slow = errorCodes.response_timeout;
  t.equal(
    causeOf([
      { voter: 1, vote: 'DOWN', error: refused },
      { voter: 2, vote: 'DOWN', error: refused },
      { voter: 3, vote: 'TIMEOUT', error: slow },
      { voter: 4, vote: 'UP', error: 0 },
    ]),
    'connect_refused, 3 of 4 probes',
  );
  t.equal(causeOf([{ voter: 1, vote: 'TIMEOUT', error: slow }]), 'response_timeout, one probe');
  t.equal(causeOf([{ voter: 0, vote: 'DOWN', error: refused }]), 'connect_refused, seen by the control plane');
  t.equal(causeOf([{ voter: 3, vote: 'DOWN', error: 9_999 }]), 'failed, one probe', 'a code of a newer version');
  t.equal(causeOf([]), null);
  t.equal(causeOf([{ voter: 1, vote: 'UP', error: 0 }]), null);
});

void t.test('a histogram has few bars, in order, and loses nothing', async () => {
  const buckets = fc
    .array(
      fc.record({
        width: fc.double({ min: 1, max: 5_000, noNaN: true }),
        gap: fc.nat(1_000_000),
        count: fc.integer({ min: 1, max: 1_000 }),
      }),
      {
        maxLength: 300,
      },
    )
    .map((list) => {
      let toUs = 0;
      return list.map(({ width, gap, count }) => {
        const fromUs = toUs + gap;
        toUs = fromUs + width;
        return { fromUs, toUs, count };
      });
    });
  fc.assert(
    fc.property(buckets, fc.integer({ min: 1, max: 40 }), (list, most) => {
      const bars = histogram(list, most);
      const total = (all: readonly { count: number }[]) => all.reduce((sum, { count }) => sum + count, 0);
      return (
        bars.length <= most &&
        total(bars) === total(list) &&
        bars.every(
          ({ fromMs, toMs, count }, index) => fromMs < toMs && count > 0 && toMs <= (bars[index + 1]?.fromMs ?? toMs),
        ) &&
        bars.at(0)?.fromMs === (list[0] === undefined ? undefined : list[0].fromUs / 1_000)
      );
    }),
  );
});
