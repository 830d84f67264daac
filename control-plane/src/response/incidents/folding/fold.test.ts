import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { fold, windowOf } from './fold.ts';
import type { DownEdge } from './fold.ts';
import type { IncidentState, Message } from './incident-state.ts';
import { settle } from './settle.ts';

/** Incidents as the database would hold them, with what was told. */
class Store {
  readonly incidents = new Map<number, IncidentState>();
  readonly said: { readonly id: number; readonly kind: Message['kind'] }[] = [];
  #next = 1;

  down(edge: DownEdge, nowMs: number, isHeld = false): number {
    return this.downTogether([edge], nowMs, isHeld)[0] ?? 0;
  }

  /** @returns the incidents that took somebody in */
  downTogether(edges: readonly DownEdge[], nowMs: number, isHeld = false): number[] {
    const now = { nowMs, newId: this.#next, isHeld: () => isHeld };
    const { taken, merged } = fold([...this.incidents.values()], edges, now);
    for (const { incident, messages } of [...merged, ...taken]) this.#write(incident, messages);
    this.#next = Math.max(this.#next, ...taken.map(({ incident }) => incident.id + 1));
    return taken.map(({ incident }) => incident.id);
  }

  up(subject: string, endedMs: number, nowMs: number): void {
    const of = [...this.incidents.values()].find(({ members }) =>
      members.some((member) => member.subject === subject && member.endedMs === null),
    );
    if (of === undefined) throw new Error(`${subject} is up`);
    const members = of.members.map((member) =>
      member.subject === subject && member.endedMs === null
        ? { ...member, endedMs: Math.max(endedMs, member.startedMs), resolution: 'auto' as const }
        : member,
    );
    const { incident, messages } = settle({ ...of, members }, nowMs, false);
    this.#write(incident, messages);
  }

  isDown(subject: string): boolean {
    return [...this.incidents.values()].some(({ members }) =>
      members.some((member) => member.subject === subject && member.endedMs === null),
    );
  }

  tell(nowMs: number): void {
    for (const one of this.incidents.values()) {
      if (one.told.dueMs === null || one.told.dueMs > nowMs) continue;
      const { incident, messages } = settle(one, nowMs, false);
      this.#write(incident, messages);
    }
  }

  /** Who is together, whatever the incidents are called. */
  parts(): string[] {
    return [...this.incidents.values()]
      .filter(({ foldedInto }) => foldedInto === null)
      .map(({ key, members, status, startedMs, resolvedMs }) => {
        const subjects = members.map(({ subject }) => subject).sort();
        return JSON.stringify([key, subjects, status, startedMs, resolvedMs]);
      })
      .sort();
  }

  #write(incident: IncidentState, messages: readonly Message[]): void {
    this.incidents.set(incident.id, incident);
    for (const { kind } of messages) this.said.push({ id: incident.id, kind });
  }
}

const edge = (subject: number, startedMs: number, key: string | null, intervalSeconds = 30): DownEdge => ({
  subject: `monitor:${subject}`,
  title: `${subject} is down`,
  startedMs,
  windowMs: windowOf(intervalSeconds),
  key,
  isUrgent: false,
});

/** Outages of different subjects that last beyond all onsets, so that each is open when another one of its cause begins. */
const outages = fc
  .array(
    fc.record({
      startedS: fc.nat(900),
      interval: fc.constantFrom(1, 30, 60, 300),
      key: fc.constantFrom('address:192.0.2.1', 'address:192.0.2.2', null),
      lastsS: fc.nat(600),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((list) =>
    list.map(({ startedS, interval, key, lastsS }, subject) => ({
      down: edge(subject, startedS * 1_000, key, interval),
      endedMs: (2_000 + lastsS) * 1_000,
    })),
  );

/** Each outage's beginning before its end, and else any order. */
const arrival = (count: number) =>
  fc.shuffledSubarray(
    Array.from({ length: 2 * count }, (_, index) => index % count),
    { minLength: 2 * count },
  );

/** The slow reference: what is connected by nearness. */
function expected(list: readonly { readonly down: DownEdge }[]): string[] {
  const parent = list.map((_, index) => index);
  const root = (index: number): number => (parent[index] === index ? index : root(parent[index] ?? index));
  for (const [a, one] of list.entries()) {
    for (const [b, other] of list.entries()) {
      const isNear =
        Math.abs(one.down.startedMs - other.down.startedMs) <= Math.max(one.down.windowMs, other.down.windowMs);
      if (one.down.key !== null && one.down.key === other.down.key && isNear) parent[root(a)] = root(b);
    }
  }
  const groups = Map.groupBy(list, (one) => root(list.indexOf(one)));
  return [...groups.values()].map((group) => JSON.stringify(group.map(({ down }) => down.subject).sort())).sort();
}

void t.test('in whatever order outages become known, the same ones are together, with the same times', async (t) => {
  fc.assert(
    fc.property(
      outages.chain((list) => fc.tuple(fc.constant(list), arrival(list.length), arrival(list.length))),
      ([list, ...orders]) => {
        const stores = orders.map((order) => {
          const store = new Store();
          const begun = new Set<number>();
          let nowMs = 1_000_000;
          for (const index of order) {
            nowMs += 500;
            const outage = list[index];
            if (outage === undefined) continue;
            if (begun.has(index)) store.up(outage.down.subject, outage.endedMs, nowMs);
            else store.down(outage.down, nowMs);
            begun.add(index);
            store.tell(nowMs);
          }
          return store;
        });
        const [one, other] = stores.map((store) => store.parts());
        if (JSON.stringify(one) !== JSON.stringify(other)) return false;
        const together = (one ?? []).map((part) => JSON.stringify((JSON.parse(part) as unknown[])[1])).sort();
        if (JSON.stringify(together) !== JSON.stringify(expected(list))) return false;
        // Of each incident the first message says that it was opened, none is doubled in between, and the last that it is over.
        return stores.every((store) =>
          [...store.incidents.keys()].every((id) => {
            const kinds = store.said.filter((said) => said.id === id).map(({ kind }) => kind);
            if (kinds.length === 0) return store.incidents.get(id)?.foldedInto !== null;
            return kinds[0] === 'opened' && kinds.at(-1) === 'resolved' && kinds.lastIndexOf('opened') === 0;
          }),
        );
      },
    ),
    { numRuns: 300 },
  );
  t.pass('for 300 worlds');
});

void t.test(
  'in whatever order and however many at a time outages become known, the same ones are together',
  async (t) => {
    /** Sizes of the batches, and an order. */
    const way = (count: number) =>
      fc.tuple(
        fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: count, maxLength: count }),
      );
    fc.assert(
      fc.property(
        outages.chain((list) => fc.tuple(fc.constant(list), way(list.length), fc.nat(12))),
        ([list, [order, sizes], recoverAfter]) => {
          const store = new Store();
          const oneByOne = new Store();
          const left = order.flatMap((index) => list[index] ?? []);
          let nowMs = 1_000_000;
          for (const size of sizes) {
            const batch = left.splice(0, size).map(({ down }) => down);
            if (batch.length === 0) continue;
            nowMs += 500;
            store.downTogether(batch, nowMs);
            for (const one of batch) oneByOne.down(one, nowMs);
            for (const each of [store, oneByOne]) each.tell(nowMs);
            // Some recover in between, so that incidents are open, over, and open again.
            for (const { down, endedMs } of list.slice(0, recoverAfter)) {
              for (const each of [store, oneByOne])
                if (each.isDown(down.subject)) each.up(down.subject, endedMs, nowMs);
            }
          }
          if (JSON.stringify(store.parts()) !== JSON.stringify(oneByOne.parts())) return false;
          const together = store
            .parts()
            .map((part) => JSON.stringify((JSON.parse(part) as unknown[])[1]))
            .sort();
          if (JSON.stringify(together) !== JSON.stringify(expected(list))) return false;
          // What joins an incident together is told at once, not in as many messages.
          return store.said.length <= oneByOne.said.length;
        },
      ),
      { numRuns: 500 },
    );
    t.pass('for 500 worlds');
  },
);

void t.test('50 monitors on one dead address, some looked at every 300 s, make one incident', async (t) => {
  const store = new Store();
  const edges = Array.from({ length: 50 }, (_, n) =>
    edge(n, (n % 5 === 0 ? 250_000 : 0) + n * 100, 'address:192.0.2.1', n % 5 === 0 ? 300 : 60),
  );
  for (const one of edges.toSorted((a, b) => a.startedMs - b.startedMs)) {
    store.down(one, one.startedMs + 10_000);
    store.tell(one.startedMs + 10_000);
  }
  store.tell(400_000);
  t.equal(store.incidents.size, 1);
  const [incident] = store.incidents.values();
  t.equal(incident?.members.length, 50);
  t.equal(incident?.title, '1 is down, and 49 more');
  t.same(
    store.said.map(({ kind }) => kind),
    ['opened', 'updated', 'updated'],
    'the first, the others of these with the first of the slow ones, and the rest',
  );
});

void t.test('a group waits 3 s before its first message, later members come at most once a minute', async (t) => {
  const store = new Store();
  const key = 'address:192.0.2.1';
  const kinds = () => store.said.map(({ kind }) => kind);
  store.down(edge(1, 0, key), 10_000);
  store.tell(12_999);
  t.same(kinds(), []);
  store.down(edge(2, 500, key), 12_000);
  store.tell(13_000);
  t.same(kinds(), ['opened']);
  for (let n = 3; n < 10; n += 1) {
    store.down(edge(n, n * 1_000, key), 14_000 + n * 1_000);
    store.tell(14_000 + n * 1_000);
  }
  t.same(kinds(), ['opened'], 'not yet');
  store.tell(72_999);
  t.same(kinds(), ['opened']);
  store.tell(73_000);
  store.tell(73_001);
  t.same(kinds(), ['opened', 'updated'], 'seven in one');
  for (let n = 1; n < 10; n += 1) store.up(`monitor:${n}`, 100_000, 101_000);
  store.tell(500_000);
  t.same(kinds(), ['opened', 'updated', 'resolved']);
});

void t.test('two unrelated failures are two incidents, and who fails alone is told at once', async (t) => {
  const store = new Store();
  store.down(edge(1, 0, 'address:192.0.2.1'), 10_000);
  store.down(edge(2, 0, 'address:192.0.2.2'), 10_000);
  store.down(edge(3, 0, null), 10_000);
  store.down(edge(4, 0, null), 10_000);
  t.equal(store.incidents.size, 4);
  t.same(store.said, [
    { id: 3, kind: 'opened' },
    { id: 4, kind: 'opened' },
  ]);
  store.down({ ...edge(5, 0, 'address:192.0.2.1'), isUrgent: true }, 10_500);
  t.match(store.said.at(-1), { id: 1, kind: 'opened' }, 'and what is urgent does not wait');
});

void t.test('a link between two incidents makes them one, and the one that was told is taken back', async (t) => {
  const store = new Store();
  const key = 'certificate:aa';
  store.down(edge(1, 0, key), 10_000);
  store.down(edge(2, 100_000, key), 110_000);
  store.tell(120_000);
  t.equal(store.incidents.size, 2);
  store.down(edge(3, 50_000, key), 130_000);
  t.match(store.incidents.get(2), { status: 'resolved', resolution: 'folded', foldedInto: 1, members: [] });
  t.same(
    store.incidents
      .get(1)
      ?.members.map(({ subject }) => subject)
      .sort(),
    ['monitor:1', 'monitor:2', 'monitor:3'],
  );
  t.match(store.said, [
    { id: 1, kind: 'opened' },
    { id: 2, kind: 'opened' },
    { id: 2, kind: 'resolved' },
  ]);
  store.tell(180_000);
  t.match(store.said.at(-1), { id: 1, kind: 'updated' });
});

void t.test('an outage of a later time, or after a person said that it is over, is another incident', async (t) => {
  const store = new Store();
  const key = 'address:192.0.2.1';
  const first = store.down(edge(1, 0, key), 10_000);
  t.not(store.down(edge(2, 61_000, key), 70_000), first);
  const [incident] = store.incidents.values();
  if (incident === undefined) throw new Error('none');
  store.incidents.set(first, { ...incident, status: 'resolved', resolution: 'manual', resolvedMs: 80_000 });
  t.not(store.down(edge(3, 100, key), 90_000), first);
});
