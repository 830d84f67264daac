import type { Random } from '../engine/random.ts';

const originMs = 1_800_000_000_000;
const minuteMs = 60_000;

/** A time in which nobody gets an answer. */
export type Outage = { readonly fromMs: number; readonly toMs: number; readonly outcome: 'fail' | 'timeout' };

/** What a day is like. */
export type DaySetting = {
  readonly intervalS: number;
  readonly timeoutS: number;
  readonly confirmations: number;
  /** Decides the phases of the three probes. */
  readonly probesFrom: number;
  readonly liar: {
    readonly probeId: number;
    readonly says: 'fail' | 'timeout' | 'ok' | 'anything' | 'by turns';
    readonly everyMs: number;
  };
  /** Share of the checks of an honest probe that fail for no lasting reason. */
  readonly blips: number;
  /** A blip may follow another; else it is over before the next look, five seconds later. */
  readonly isIndependent: boolean;
  /** How often the wall clock of a probe is set by up to 90 s. */
  readonly setClockEveryMs: number;
  /** An honest probe that dates all its results wrongly by up to 90 s, which the product does not: on days without outages. */
  readonly misdated: { readonly probeId: number; readonly byMs: number };
  readonly outages: readonly Outage[];
};

/** The setting of a day: with up to three outages, or with a probe that dates its results wrongly. */
export function settingOf(seed: number, random: Random, isIndependent: boolean): DaySetting {
  const liarId = random.between(1, 3);
  const isMisdated = random.chance(0.3);
  const timeoutS = random.pick([5, 10, 10]);
  return {
    intervalS: random.pick([30, 60, 60, 60, 120, 300]),
    timeoutS,
    confirmations: 2,
    probesFrom: (seed % 1_000) * 3,
    liar: {
      probeId: liarId,
      says: random.pick(['fail', 'fail', 'timeout', 'ok', 'ok', 'anything', 'by turns'] as const),
      everyMs: random.between(1, 90) * minuteMs,
    },
    blips: 0.01,
    isIndependent,
    setClockEveryMs: 4 * 60 * minuteMs,
    misdated: { probeId: isMisdated ? (liarId % 3) + 1 : 0, byMs: isMisdated ? random.between(-90_000, 59_000) : 0 },
    outages: isMisdated ? [] : outagesOf(random),
  };
}

function outagesOf(random: Random): Outage[] {
  return Array.from({ length: random.between(0, 3) }, (_, index) => {
    // Apart, and long enough to be noticed at an interval of five minutes.
    const fromMs = originMs + (60 + index * 420 + random.between(0, 300)) * minuteMs + random.between(0, minuteMs);
    return {
      fromMs,
      toMs: fromMs + random.between(16, 60) * minuteMs,
      outcome: random.pick(['fail', 'timeout'] as const),
    };
  });
}
