import t from 'tap';
import type { Assignment, MonitorInputs, Status, StoredResult } from '../consensus/index.ts';
import { timeline } from '../consensus/index.ts';
import { at, inputsOf, Ingester, result, told } from '../consensus/test-support.ts';
import { planSupplements, votedAgainMs } from './supplements.ts';
import type { SupplementingProbe } from './supplements.ts';

/** What the world does to a probe and what it finds, by the second of the story. */
type Actor = {
  readonly region: string;
  /** Its process runs. */
  readonly isAlive: (second: number) => boolean;
  /** The control plane hears of it, and its results arrive; else it keeps them. */
  readonly isHeard?: (second: number) => boolean;
  readonly finds?: (second: number) => StoredResult['outcome'];
};

type State = { heardAt: number; lostAt: number | null; returnedAt: number; wasAlive: boolean; kept: StoredResult[] };

const intervalS = 60;
const lostAfterS = 45;

/** A control plane, its probes and one monitor on a clock of whole seconds. The first three actors have the seats. */
class Story {
  second = 0;
  readonly statuses: Status[] = [];
  readonly changes: string[] = [];
  readonly #actors: ReadonlyMap<number, Actor>;
  readonly #states = new Map<number, State>();
  #assignments: Assignment[];
  readonly ingester: Ingester;

  constructor(actors: readonly Actor[]) {
    this.#actors = new Map(actors.map((actor, index) => [index + 1, actor]));
    this.#assignments = actors.slice(0, 3).map((actor, index) => this.#row(index + 1, actor.region, false));
    for (const id of this.#actors.keys()) {
      this.#states.set(id, {
        heardAt: 0,
        lostAt: null,
        returnedAt: Number.NEGATIVE_INFINITY,
        wasAlive: true,
        kept: [],
      });
    }
    this.ingester = new Ingester(this.#inputs(), at(0));
  }

  /** N: the open seats. */
  get seats(): number {
    return this.#assignments.filter((row) => row.toUs === null && !row.supplement).length;
  }

  get supplements(): readonly number[] {
    return this.#assignments.flatMap((row) => (row.toUs === null && row.supplement ? [row.voter] : []));
  }

  until(second: number): void {
    for (; this.second < second; this.second += 1) this.#tick();
  }

  /** What a probe voted by itself. */
  votesOf(voter: number, fromS: number, toS: number): string {
    const { perVoter } = timeline(this.#inputs(), this.ingester.rows, at(fromS), at(toS));
    return told(perVoter.get(voter) ?? []);
  }

  /** The status over time, whoever of these had been assigned alone. */
  statusOf(fromS: number, toS: number, without: readonly number[] = []): string {
    const assignments = this.#assignments.filter((row) => !without.includes(row.voter));
    return told(timeline({ ...this.#inputs(), assignments }, this.ingester.rows, at(fromS), at(toS)).segments);
  }

  #tick(): void {
    for (const [id, actor] of this.#actors) this.#live(id, actor);
    this.#plan();
    this.ingester.advance(at(this.second));
    this.ingester.take();
    this.statuses.push(this.ingester.status);
  }

  #live(id: number, actor: Actor): void {
    const state = this.#stateOf(id);
    const isAlive = actor.isAlive(this.second);
    const isHeard = isAlive && (actor.isHeard?.(this.second) ?? true);
    // An agent that was killed forgets what it has not written; here it has delivered all before.
    const isDue =
      this.second % intervalS === id ||
      this.#assignments.some((row) => row.voter === id && row.toUs === null && row.fromUs === at(this.second - 1));
    if (isAlive && isDue && this.#isAssigned(id)) {
      state.kept.push(result(id, this.second, actor.finds?.(this.second) ?? 'ok'));
    }
    if (isHeard) {
      if (state.lostAt !== null) {
        state.lostAt = null;
        state.returnedAt = this.second;
      }
      if (this.second % 15 === 0 || !state.wasAlive) state.heardAt = this.second;
      const arriving = state.kept.splice(0).map((row) => ({ ...row, receivedUs: at(this.second) + 300_000 }));
      if (arriving.length > 0) this.ingester.apply(arriving);
    } else if (state.lostAt === null && this.second - state.heardAt > lostAfterS) {
      state.lostAt = this.second;
    }
    state.wasAlive = isAlive;
  }

  #plan(): void {
    const probes = [...this.#actors].map(([id, actor]): SupplementingProbe => {
      const { lostAt } = this.#stateOf(id);
      const lostSinceMs = lostAt === null ? null : lostAt * 1_000;
      return {
        id,
        region: actor.region,
        workspaceId: null,
        capabilities: [],
        isLost: lostAt !== null,
        isPaused: false,
        hasConnected: true,
        load: 0,
        lostSinceMs,
      };
    });
    const open = this.#assignments.filter((row) => row.toUs === null);
    const seats = open.filter((row) => !row.supplement);
    const monitor = {
      id: 7,
      workspaceId: 1,
      protocol: 'http',
      url: 'https://example.com/',
      settings: {},
      wantedProbeIds: null,
      wantedRegions: null,
      isActive: true,
      seats: seats.map(({ voter, region }) => ({ probeId: voter, region, hasVotedAgain: this.#hasVotedAgain(voter) })),
      supplements: open.flatMap((row) => {
        const standsInFor = this.#standsInFor.get(row.voter);
        return row.supplement && standsInFor !== undefined
          ? [{ probeId: row.voter, region: row.region, standsInFor }]
          : [];
      }),
    };
    const changes = planSupplements([monitor], probes, this.second * 1_000);
    for (const { operation, probeId, region = '', standsInFor } of changes) {
      this.changes.push(`${this.second}: ${operation} ${probeId}`);
      if (operation === 'close') {
        this.#assignments = this.#assignments.map((row) =>
          row.voter === probeId && row.toUs === null ? { ...row, toUs: at(this.second) } : row,
        );
      } else {
        if (standsInFor !== undefined) this.#standsInFor.set(probeId, standsInFor);
        this.#assignments = [...this.#assignments, this.#row(probeId, region, standsInFor !== undefined)];
      }
    }
    if (changes.length > 0) this.ingester.reconfigure(this.#inputs(), at(this.second));
  }

  /** As the queries do it: the votes of the last ten minutes without a gap, all since the return. */
  #hasVotedAgain(voter: number): boolean {
    const since = this.second - votedAgainMs / 1_000;
    if (this.supplements.length === 0 || since < this.#stateOf(voter).returnedAt) return false;
    const { perVoter } = timeline(this.#inputs(), this.ingester.rows, at(since), at(this.second));
    return perVoter.get(voter)?.every((segment) => segment.status !== 'UNKNOWN') ?? false;
  }

  readonly #standsInFor = new Map<number, number>();

  #row(voter: number, region: string, supplement: boolean): Assignment {
    return { voter, region, fromUs: at(this.second), toUs: null, supplement };
  }

  #isAssigned(id: number): boolean {
    return this.#assignments.some((row) => row.voter === id && row.toUs === null);
  }

  #stateOf(id: number): State {
    const state = this.#states.get(id);
    if (state === undefined) throw new Error(`no probe ${id}`);
    return state;
  }

  #inputs(): MonitorInputs {
    return inputsOf({ assignments: this.#assignments });
  }
}

const always = (): boolean => true;
const between = (second: number, from: number, to: number): boolean => second >= from && second < to;

t.test(
  'a probe is killed for ten minutes and returns: the supplement votes, N stays, an outage is told meanwhile',
  async (t) => {
    const killedAt = 600;
    const backAt = 1_200;
    // While the first is dead, the target fails for the second and for the supplement; the third finds it well.
    const fails = (second: number): StoredResult['outcome'] => (between(second, 840, 1_020) ? 'fail' : 'ok');
    const story = new Story([
      { region: 'eu', isAlive: (second) => !between(second, killedAt, backAt) },
      { region: 'us', isAlive: always, finds: fails },
      { region: 'asia', isAlive: always },
      { region: 'eu', isAlive: always, finds: fails },
    ]);
    const seatsSeen = new Set<number>();
    const supplementSeen: [number, number][] = [];
    while (story.second < 2_400) {
      story.until(story.second + 1);
      seatsSeen.add(story.seats);
      if (story.supplements.length !== (supplementSeen.at(-1)?.[1] ?? 0)) {
        supplementSeen.push([story.second - 1, story.supplements.length]);
      }
    }
    t.same([...seatsSeen], [3], 'N is 3 throughout');

    const lastHeartbeat = 585;
    const [opened = [0, 0], closed = [0, 0], ...more] = supplementSeen;
    t.same(more, []);
    t.equal(opened[1], 1);
    t.ok(
      opened[0] > lastHeartbeat + 45 && opened[0] <= lastHeartbeat + 60,
      `supplemented within a minute (${opened[0]})`,
    );
    // The returned probe's first result is that of its next slot, the first second after a full minute.
    const firstVote = 1_201;
    t.same(closed, [firstVote + 600, 0], 'it leaves ten minutes after the first vote');
    t.same(story.changes, [`${opened[0]}: open 4`, `${closed[0]}: close 4`]);

    t.equal(
      story.votesOf(1, 0, 2_400),
      'UNKNOWN 0–1, UP 1–701, UNKNOWN 701–1201, UP 1201–2400',
      'its own votes end with their freshness and begin anew with its return',
    );
    t.equal(
      story.votesOf(4, 600, 2_400),
      `UNKNOWN 600–${opened[0] + 1}, UP ${opened[0] + 1}–844, DOWN 844–1024, UP 1024–${closed[0]}, UNKNOWN ${closed[0]}–2400`,
      'the supplement votes from its first check, at once, to its leave',
    );
    t.equal(
      story.statusOf(0, 2_400),
      'UNKNOWN 0–1, UP 1–842, PARTIAL 842–844, DOWN 844–1022, PARTIAL 1022–1024, UP 1024–2400',
      'two of three fail: an outage, dated to the first failure of the second of them',
    );
    t.equal(
      story.statusOf(830, 1_030, [4]),
      'UP 830–842, PARTIAL 842–1022, UP 1022–1030',
      'without the supplement nobody could have told',
    );
    const live = [...new Set(story.statuses)];
    t.same(live, ['UNKNOWN', 'UP', 'PARTIAL', 'DOWN'], 'as it was told while it happened');
    for (const voter of [null, 1, 2, 3, 4]) {
      const { stored, batch } = story.ingester.compare(voter);
      t.equal(stored, batch, `the increment equals the batch, voter ${voter}`);
    }
  },
);

t.test(
  'the control plane’s own network is cut: probes go missing, those beside it fail, and there is no outage',
  async (t) => {
    const isCut = (second: number): boolean => between(second, 600, 1_800);
    const faraway = (region: string): Actor => ({ region, isAlive: always, isHeard: (second) => !isCut(second) });
    const beside = (region: string): Actor => ({
      region,
      isAlive: always,
      finds: (second) => (isCut(second) ? 'fail' : 'ok'),
    });
    const story = new Story([faraway('eu'), faraway('us'), faraway('asia'), beside('here'), beside('there')]);
    story.until(1_800);
    t.same(story.supplements, [4], 'one supplement, since nobody else is left: more than half were lost at once');
    t.equal(story.seats, 3);
    const live = new Set(story.statuses);
    t.notOk(live.has('DOWN') || live.has('TIMEOUT'), `told: ${[...live].join(', ')}`);
    story.until(3_600);
    t.same(story.supplements, []);
    t.equal(story.statusOf(0, 600), 'UNKNOWN 0–1, UP 1–600');
    const afterwards = story.statusOf(600, 3_600);
    t.notMatch(afterwards, /DOWN|TIMEOUT|UNKNOWN/u, 'and what the probes had kept fills the time that nobody saw');
    const { stored, batch } = story.ingester.compare(null);
    t.equal(stored, batch);
  },
);
