import t from 'tap';
import { z } from 'zod';
import { alertEvents } from './alert-shapes.ts';
import { matchesEventPattern } from './event-patterns.ts';
import {
  describedEvents,
  eventSchema,
  eventTypeNames,
  exampleEvent,
  isDefaultEvent,
  liveKindOf,
} from './event-types.ts';
import { liveEventKinds } from './live-events.ts';

t.test('each example fits the schema of its type, and that of no other', async (t) => {
  for (const type of eventTypeNames) {
    const example = exampleEvent(type);
    const read = eventSchema(type).safeParse(example);
    t.ok(read.success, `${type} ${read.success ? '' : z.prettifyError(read.error)}`);
    const served = describedEvents().find((one) => one.type === type);
    t.same(served?.example, example);
    // What is served is judged as the product's own is: by another reader of JSON Schema.
    const schema = z.fromJSONSchema(served?.schema as Parameters<typeof z.fromJSONSchema>[0]);
    t.ok(schema.safeParse(example).success, `${type}: as served`);
    t.notOk(schema.safeParse({ ...example, type: 'other' }).success);
    t.notOk(schema.safeParse({ ...example, sequence: '1' }).success);
    t.notOk(schema.safeParse({ ...example, data: {} }).success);
    t.ok(Buffer.byteLength(JSON.stringify(example)) < 2_000);
  }
});

t.test('one list: what alerts and the live stream tell is in it', async (t) => {
  const names: readonly string[] = eventTypeNames;
  t.same(
    alertEvents.filter((event) => !names.includes(event)),
    [],
  );
  const told = new Set(eventTypeNames.flatMap((type) => liveKindOf(type) ?? []));
  t.same(
    liveEventKinds.filter((kind) => !told.has(kind)),
    [],
  );
  t.equal(liveKindOf('monitor.partial'), 'monitor.transition');
  t.equal(liveKindOf('incident.removed'), 'incident.deleted');
  t.equal(liveKindOf('probe.offline'), undefined);
});

t.test('patterns', async (t) => {
  t.ok(matchesEventPattern(['*'], 'monitor.down'));
  t.ok(matchesEventPattern(['heartbeat.*', 'monitor.*'], 'monitor.down'));
  t.notOk(matchesEventPattern(['monitor.*'], 'monitors.down'));
  t.notOk(matchesEventPattern(['monitor.*'], 'monitor.'));
  t.notOk(matchesEventPattern(['monitor.do'], 'monitor.down'));
  t.notOk(isDefaultEvent('probe.offline'));
  t.ok(isDefaultEvent('monitor.down'));
});
