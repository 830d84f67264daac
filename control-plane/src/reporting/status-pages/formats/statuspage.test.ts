import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { z } from 'zod';
import { statuspageDocuments } from './statuspage.ts';
import { anyPage } from './testing/any-page.ts';
import { textOf } from './testing/render.ts';
import { componentOf, emptyPageOf, incidentOf, maintenanceOf, nowMs, pageOf, sectionOf } from './testing/samples.ts';

/* The documented shape (https://metastatuspage.com/api), with what pages of Statuspage answer beyond it. */

const id = z.string().regex(/^[a-z0-9]{12}$/);
const time = z.iso.datetime();
const word = z.enum(['operational', 'degraded_performance', 'partial_outage', 'major_outage', 'under_maintenance']);
const pageSchema = z.strictObject({ id, name: z.string(), url: z.url(), time_zone: z.string(), updated_at: time });
const componentSchema = z.strictObject({
  id,
  name: z.string(),
  status: word,
  created_at: time,
  updated_at: time,
  position: z.int().min(1),
  description: z.string().nullable(),
  showcase: z.boolean(),
  start_date: z.iso.date().nullable(),
  group_id: id.nullable(),
  page_id: id,
  group: z.boolean(),
  only_show_if_degraded: z.boolean(),
  components: z.array(id).min(1).optional(),
});
const eventOf = <Status extends string, Impact extends string>(statuses: Status[], impacts: Impact[]) =>
  z.strictObject({
    id,
    name: z.string(),
    status: z.enum(statuses),
    created_at: time,
    updated_at: time,
    monitoring_at: time.nullable(),
    resolved_at: time.nullable(),
    impact: z.enum(impacts),
    shortlink: z.url(),
    started_at: time,
    page_id: id,
    incident_updates: z.array(
      z.strictObject({
        id,
        status: z.enum(statuses),
        body: z.string(),
        incident_id: id,
        created_at: time,
        updated_at: time,
        display_at: time,
        affected_components: z.array(
          z.strictObject({ code: id, name: z.string(), old_status: word, new_status: word }),
        ),
        deliver_notifications: z.boolean(),
        custom_tweet: z.null(),
        tweet_id: z.null(),
      }),
    ),
    components: z.array(componentSchema),
    reminder_intervals: z.null(),
  });
const incidentSchema = eventOf(
  ['investigating', 'identified', 'monitoring', 'resolved', 'postmortem'],
  ['none', 'minor', 'major', 'critical'],
);
const maintenanceSchema = eventOf(['scheduled', 'in_progress', 'verifying', 'completed'], ['maintenance']).extend({
  scheduled_for: time,
  scheduled_until: time,
});
const statusSchema = z.strictObject({
  indicator: z.enum(['none', 'minor', 'major', 'critical', 'maintenance']),
  description: z.string().min(1),
});
const incidentsSchema = z.strictObject({ page: pageSchema, incidents: z.array(incidentSchema) });
const maintenancesSchema = z.strictObject({
  page: pageSchema,
  scheduled_maintenances: z.array(maintenanceSchema),
});
const summarySchema = z.strictObject({
  page: pageSchema,
  components: z.array(componentSchema),
  incidents: z.array(incidentSchema),
  scheduled_maintenances: z.array(maintenanceSchema),
  status: statusSchema,
});
const schemas: Readonly<Record<string, z.ZodType>> = {
  '/api/v2/summary.json': summarySchema,
  '/api/v2/status.json': z.strictObject({ page: pageSchema, status: statusSchema }),
  '/api/v2/components.json': z.strictObject({ page: pageSchema, components: z.array(componentSchema) }),
  '/api/v2/incidents.json': incidentsSchema,
  '/api/v2/incidents/unresolved.json': incidentsSchema,
  '/api/v2/scheduled-maintenances.json': maintenancesSchema,
  '/api/v2/scheduled-maintenances/upcoming.json': maintenancesSchema,
  '/api/v2/scheduled-maintenances/active.json': maintenancesSchema,
};

const read = <Schema extends z.ZodType>(schema: Schema, path: string, view = pageOf()): z.infer<Schema> =>
  schema.parse(JSON.parse(textOf(statuspageDocuments, path, view)));
const summaryOf = (view = pageOf()) => read(summarySchema, '/api/v2/summary.json', view);

void t.test('every document has the documented shape, whatever the page', async (t) => {
  t.same(statuspageDocuments.map(({ path }) => path).sort(), Object.keys(schemas).sort());
  t.ok(statuspageDocuments.every(({ isShared, policy }) => isShared && policy === undefined));
  fc.assert(
    fc.property(anyPage, (view) => {
      for (const [path, schema] of Object.entries(schemas)) read(schema, path, view);
    }),
  );
});

void t.test('sections are groups before their members, and what nothing is known of is left out', async (t) => {
  const { components } = summaryOf();
  t.same(
    components.map((each) => [each.id, each.group, each.group_id, each.position, each.status, each.components]),
    [
      ['sec000000001', true, null, 1, 'partial_outage', ['cmp000000001']],
      ['cmp000000001', false, 'sec000000001', 1, 'partial_outage', undefined],
      ['cmp000000003', false, null, 2, 'under_maintenance', undefined],
    ],
  );
  t.match(components[1], { description: 'Carts and payment', showcase: true, start_date: '2026-11-08' });
  t.match(components[2], { description: null, start_date: null });
  const dark = sectionOf([componentOf({ id: 'cmp000000009', status: 'unknown' })], { id: 'sec000000009', name: 'X' });
  t.same(summaryOf(pageOf({ sections: [dark] })).components, []);
});

void t.test('an incident carries its updates, what they say of components, and its times', async (t) => {
  const [open, over, ...others] = read(incidentsSchema, '/api/v2/incidents.json').incidents;
  t.same(others, []);
  t.match(open, {
    id: 'inc000000001',
    name: 'Checkout: outage',
    status: 'investigating',
    impact: 'major',
    shortlink: 'https://parallax.example/status/shop/incidents/inc000000001',
    started_at: '2026-11-27T11:00:00.000Z',
    created_at: '2026-11-27T11:01:00.000Z',
    resolved_at: null,
    monitoring_at: null,
  });
  t.same(
    open?.components.map((each) => each.id),
    ['cmp000000001'],
  );
  t.same(
    open?.incident_updates.map((each) => [each.id, each.status, each.body, each.display_at]),
    [
      ['upd000000003', 'identified', 'Some customers recover.', '2026-11-27T11:50:00.000Z'],
      ['upd000000002', 'identified', 'A network provider fails.\n\nWe route around it.', '2026-11-27T11:20:00.000Z'],
      ['upd000000001', 'investigating', 'The outage began.', '2026-11-27T11:00:00.000Z'],
    ],
    'a note has the status of the update before it, and an automatic one has words of ours',
  );
  t.same(
    open?.incident_updates.map((each) => each.affected_components),
    [
      [{ code: 'cmp000000001', name: 'Checkout', old_status: 'partial_outage', new_status: 'degraded_performance' }],
      [{ code: 'cmp000000001', name: 'Checkout', old_status: 'operational', new_status: 'partial_outage' }],
      [],
    ],
  );
  t.match(over, {
    name: 'Slow search',
    status: 'resolved',
    monitoring_at: '2026-11-24T12:00:00.000Z',
    resolved_at: '2026-11-24T13:00:00.000Z',
  });
  t.equal(over?.incident_updates[0]?.body, 'The outage ended.');
  t.same(read(incidentsSchema, '/api/v2/incidents/unresolved.json').incidents, [open]);
  t.same(summaryOf().incidents, [open]);
});

void t.test('maintenance is upcoming, active or completed', async (t) => {
  const all = read(maintenancesSchema, '/api/v2/scheduled-maintenances.json').scheduled_maintenances;
  t.same(
    all.map((each) => [each.id, each.name, each.status, each.incident_updates.map(({ status }) => status)]),
    [
      ['mnt000000001', 'Database upgrade', 'scheduled', ['scheduled']],
      ['mnt000000002', 'Maintenance', 'in_progress', ['in_progress', 'scheduled']],
      ['mnt000000003', 'Move to another hall', 'completed', ['completed', 'in_progress', 'scheduled']],
    ],
  );
  t.match(all[0], {
    scheduled_for: '2026-11-28T12:00:00.000Z',
    scheduled_until: '2026-11-28T14:00:00.000Z',
    incident_updates: [{ body: 'Orders are read-only.' }],
  });
  const idsOf = (path: string) => read(maintenancesSchema, path).scheduled_maintenances.map((each) => each.id);
  t.same(idsOf('/api/v2/scheduled-maintenances/upcoming.json'), ['mnt000000001']);
  t.same(idsOf('/api/v2/scheduled-maintenances/active.json'), ['mnt000000002']);
  t.same(
    summaryOf().scheduled_maintenances.map((each) => each.id),
    ['mnt000000002', 'mnt000000001'],
  );
  const updateIds = all.flatMap((each) => each.incident_updates.map((update) => update.id));
  t.equal(new Set(updateIds).size, 6, 'each update has an id of its own');
});

void t.test('the indicator is that of Statuspage, in the words of its page in English', async (t) => {
  const statusOf = (indicator: 'none' | 'unknown' | 'critical', locale: 'en' | 'ru' = 'en') =>
    summaryOf(emptyPageOf({ indicator, locale })).status;
  t.same(statusOf('none'), { indicator: 'none', description: 'All Systems Operational' });
  t.same(statusOf('unknown'), { indicator: 'none', description: 'No data' });
  t.same(statusOf('critical', 'ru'), { indicator: 'critical', description: 'Системы не работают' });
  t.same(summaryOf(emptyPageOf()).components, []);
});

void t.test('fifty incidents and fifty maintenances are listed, the newest', async (t) => {
  const many = Array.from({ length: 60 }, (_, index) => index);
  const view = pageOf({
    incidents: many.map((index) => incidentOf({ id: `inc0000001${String(index).padStart(2, '0')}` })),
    maintenance: many.map((index) =>
      maintenanceOf({ id: `mnt0000001${String(index).padStart(2, '0')}`, startsMs: nowMs + index, endsMs: nowMs + 99 }),
    ),
  });
  t.equal(read(incidentsSchema, '/api/v2/incidents.json', view).incidents.length, 50);
  t.equal(read(incidentsSchema, '/api/v2/incidents/unresolved.json', view).incidents.length, 60, 'all that are open');
  const { scheduled_maintenances: listed } = read(maintenancesSchema, '/api/v2/scheduled-maintenances.json', view);
  t.equal(listed.length, 50);
  t.equal(listed[0]?.id, 'mnt000000159');
});
