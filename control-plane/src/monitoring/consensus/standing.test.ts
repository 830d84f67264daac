import t from 'tap';
import { electorateAt } from './decide.ts';
import { PreparedInputs } from './prepared-inputs.ts';
import { standingOf } from './standing.ts';
import type { Standing } from './standing.ts';
import { at, inputsOf, seats } from './test-support.ts';
import type { Assignment, MonitorInputs } from './types.ts';
import { VoterSlot } from './voter-slot.ts';

/** A voter whose last vote ends then, seconds after the origin; it holds it when that is later than the present. */
function slotOf(voter: number, endsS: number, changes: { isFailing?: boolean; lastS?: number } = {}): VoterSlot {
  const slot = new VoterSlot(voter, 100);
  const piece = { fromUs: at(0), vote: 'UP', sinceUs: at(0), error: 0 } as const;
  slot.pieces = [
    { ...piece, toUs: at(5) },
    { ...piece, toUs: at(6) },
    { ...piece, toUs: at(endsS) },
  ];
  slot.isHolding = endsS > nowS;
  slot.isFailing = changes.isFailing ?? false;
  slot.lastUs = at(changes.lastS ?? 0);
  return slot;
}

const nowS = 100;
const holds = nowS + 50;

function standing(inputs: Partial<MonitorInputs>, slots: readonly VoterSlot[], frontierS = nowS): Standing {
  const prepared = new PreparedInputs(inputsOf(inputs));
  return standingOf(prepared, electorateAt(prepared, at(frontierS)), slots, at(frontierS));
}

/** Since when too few hold a vote, in seconds; null while enough do. */
const lackingS = (inputs: Partial<MonitorInputs>, slots: readonly VoterSlot[]): number | null => {
  const { lackingSinceUs } = standing(inputs, slots);
  return lackingSinceUs === null ? null : (lackingSinceUs - at(0)) / 1_000_000;
};

const supplement = (voter: number, region: string): Assignment => ({
  voter,
  region,
  fromUs: at(0),
  toUs: null,
  supplement: true,
});

t.test(
  'two votes of three probes in different regions are enough, and one is not since the second was lost',
  async (t) => {
    t.equal(lackingS({}, [slotOf(1, holds), slotOf(2, holds), slotOf(3, holds)]), null);
    t.equal(lackingS({}, [slotOf(1, holds), slotOf(2, holds), slotOf(3, 10)]), null);
    t.equal(lackingS({}, [slotOf(1, holds), slotOf(2, 20), slotOf(3, 10)]), 20, 'the later of the two lost ones');
    t.equal(lackingS({}, [slotOf(1, holds), slotOf(2, 10), slotOf(3, 20)]), 20, 'whichever it is');
    t.equal(lackingS({}, [slotOf(1, 30), slotOf(2, 10), slotOf(3, 20)]), 20, 'of three the second');
    t.equal(lackingS({}, [slotOf(1, 10), slotOf(2, 30), slotOf(3, 20)]), 20);
  },
);

t.test('who never had a vote lacks it since the inputs changed last', async (t) => {
  t.equal(lackingS({}, []), 0);
  t.equal(lackingS({}, [slotOf(1, holds)]), 0);
  t.equal(lackingS({ pauses: [{ fromUs: at(20), toUs: at(40) }] }, [slotOf(1, holds)]), 40);
  t.equal(
    lackingS({ pauses: [{ fromUs: at(20), toUs: at(40) }] }, [slotOf(1, holds), slotOf(2, 40)]),
    40,
    'a vote that ended with a change is of before it',
  );
  t.equal(lackingS({ pauses: [{ fromUs: at(20), toUs: at(40) }] }, [slotOf(1, holds), slotOf(2, 41)]), 41);
  t.equal(lackingS({ pauses: [{ fromUs: at(20), toUs: at(100) }] }, [slotOf(1, holds)]), 100, 'a change right now');
  t.equal(lackingS({ pauses: [{ fromUs: at(101), toUs: null }] }, [slotOf(1, holds)]), 0, 'not one to come');
});

t.test('votes that cannot span two regions do not suffice', async (t) => {
  const assignments = seats('eu', 'eu', 'us');
  t.equal(lackingS({ assignments }, [slotOf(1, holds), slotOf(2, holds), slotOf(3, 30)]), 30);
  t.equal(lackingS({ assignments }, [slotOf(1, holds), slotOf(2, 30), slotOf(3, holds)]), null);
  t.equal(lackingS({ assignments }, [slotOf(1, 40), slotOf(2, 30), slotOf(3, 20)]), 20, 'the third brings the region');
});

t.test('one vote of several is not enough, also where all are in one region', async (t) => {
  const assignments = seats('eu', 'eu', 'eu');
  t.equal(lackingS({ assignments }, [slotOf(1, holds), slotOf(2, 30), slotOf(3, 20)]), 30);
  t.equal(lackingS({ assignments }, [slotOf(1, holds), slotOf(2, 30), slotOf(3, holds)]), null);
});

t.test('a voter that never voted lost nothing', async (t) => {
  t.equal(lackingS({}, [slotOf(1, holds), new VoterSlot(2, 100), slotOf(3, 20)]), 20);
});

t.test('a single probe is enough for itself', async (t) => {
  const assignments = seats('eu');
  t.equal(lackingS({ assignments }, [slotOf(1, holds)]), null);
  t.equal(lackingS({ assignments }, [slotOf(1, 60)]), 60);
  t.equal(standing({ assignments }, []).seats, 1);
});

t.test('supplements stand in; who is in quarantine, and the control plane itself, do not', async (t) => {
  const assignments = [...seats('eu', 'us'), supplement(5, 'ap')];
  t.equal(lackingS({ assignments }, [slotOf(1, holds), slotOf(2, 30), slotOf(5, holds)]), null);
  const quarantines = [{ voter: 5, fromUs: at(10), toUs: null }];
  t.equal(lackingS({ assignments, quarantines }, [slotOf(1, holds), slotOf(2, 30), slotOf(5, holds)]), 30);
  t.same(standing({ assignments, quarantines }, [slotOf(1, holds)]).missing, [2], 'nor is it missed');
  t.equal(lackingS({}, [slotOf(0, holds), slotOf(1, holds)]), 0);
});

t.test('missing is who is assigned and has no vote', async (t) => {
  t.same(standing({}, [slotOf(1, holds), slotOf(3, 20)]).missing, [2, 3]);
  t.same(standing({}, [slotOf(2, holds)]).missing, [1, 3]);
  t.equal(standing({}, []).seats, 3);
});

t.test('a monitor without probes is the control plane’s own and lacks nobody', async (t) => {
  const central = standing({ assignments: [] }, [slotOf(0, holds, { isFailing: true, lastS: 70 })]);
  t.same(central, {
    isClosed: false,
    seats: 1,
    isCentral: true,
    lackingSinceUs: null,
    missing: [],
    central: { isHolding: true, isFailing: true, lastUs: at(70), beganUs: at(0) },
  });
  const unseen = { isHolding: false, isFailing: false, lastUs: Number.NEGATIVE_INFINITY, beganUs: at(0) };
  const nobody = standing({ assignments: [] }, [slotOf(4, holds, { isFailing: true, lastS: 70 })]);
  t.same(nobody.central, unseen);
  t.equal(nobody.central.isHolding, false);
  t.equal(nobody.central.isFailing, false);
  t.equal(standing({}, []).isCentral, false);
});

t.test('nobody may vote while it is paused or not begun', async (t) => {
  t.equal(standing({}, []).isClosed, false);
  t.equal(standing({ pauses: [{ fromUs: at(90), toUs: null }] }, []).isClosed, true);
  t.equal(standing({}, [], -1).isClosed, true);
});

t.test(
  'results count since the creation, the reset, the last resumption and the last change of what is checked',
  async (t) => {
    const beganS = (inputs: Partial<MonitorInputs>) => (standing(inputs, []).central.beganUs - at(0)) / 1_000_000;
    const configured = (...list: readonly (readonly [fromS: number, revision: number])[]) => ({
      configurations: list.map(([fromS, probeRevision]) => ({
        fromUs: at(fromS),
        probeRevision,
        confirmations: 2,
        policy: 'majority' as const,
      })),
    });
    t.equal(beganS({}), 0);
    t.equal(beganS({ resetUs: at(30) }), 30);
    t.equal(beganS({ pauses: [{ fromUs: at(10), toUs: at(20) }] }), 20);
    t.equal(beganS({ pauses: [{ fromUs: at(10), toUs: at(100) }] }), 100);
    t.equal(beganS({ pauses: [{ fromUs: at(10), toUs: at(101) }] }), 0, 'not resumed yet');
    t.equal(beganS({ pauses: [{ fromUs: at(10), toUs: null }] }), 0);
    t.equal(beganS(configured([50, 1])), 0, 'the first configuration is no change');
    t.equal(beganS(configured([0, 1], [40, 2])), 40);
    t.equal(beganS(configured([0, 1], [40, 2], [60, 2])), 40, 'a change of the rules is none of what is checked');
    t.equal(beganS(configured([0, 1], [40, 2], [60, 3])), 60);
    t.equal(beganS(configured([0, 1], [40, 2], [130, 3])), 40, 'what is to come is not yet');
    t.equal(beganS(configured([0, 1], [20, 2], [40, 1], [60, 2])), 60);
    t.equal(beganS({ ...configured([0, 1], [40, 2]), pauses: [{ fromUs: at(10), toUs: at(70) }] }), 70, 'the latest');
  },
);
