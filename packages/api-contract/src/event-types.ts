import { z } from 'zod';
import { alertEvents } from './alert-shapes.ts';
import { eventData } from './event-data.ts';
import type { EventDataKind } from './event-data.ts';
import { liveEventKinds } from './live-events.ts';
import type { LiveEventKind } from './live-events.ts';
import { timestamp } from './shared.ts';

/*
 * The catalogue: everything that other systems can be told of. Alerts tell a part of it under the same names, and the live stream another part.
 */

type Entry = {
  readonly description: string;
  readonly data: EventDataKind;
  /** What its example says beside the common fields. */
  readonly example?: Readonly<Record<string, unknown>>;
};

const onset = '2026-11-23T14:03:07.000Z';
const end = '2026-11-23T14:15:12.000Z';
const ofStatus = (status: string, previous: string) => ({ status, previous });
const incident = (status: string, more: object = {}) => ({
  incident: {
    id: 88,
    title: 'Shop is down',
    status,
    severity: 'major',
    resolution: null,
    started_at: onset,
    resolved_at: null,
    detected_late: false,
    ...more,
  },
  members: [{ type: 'monitor', id: 17, name: 'Shop', tags: [], group_ids: [2] }],
  member_count: 1,
  update: null,
  reason: null,
});
const act = { by: { user_id: 5 } };
const over = { status: 'resolved', resolution: 'auto', resolved_at: end };
const maintenance = {
  maintenance: { id: 5, name: 'Database upgrade', starts_at: onset, ends_at: end },
  incident_count: null,
};

export const eventCatalogue = {
  'monitor.down': {
    description: 'The probes agree that a monitor is down, or that its checks time out.',
    data: 'down',
    example: {
      ...ofStatus('DOWN', 'UP'),
      cause: { code: 'connect_refused', failing: 2, voters: 3 },
      incident_id: 88,
      continues: false,
    },
  },
  'monitor.up': {
    description: 'A monitor is up, or its outage has ended with slow or doubtful answers.',
    data: 'up',
    example: {
      ...ofStatus('UP', 'DOWN'),
      outage: { started_at: onset, ended_at: end, seconds: 725, incident_id: 88 },
    },
  },
  'monitor.degraded': {
    description: 'A monitor answers more slowly than it should.',
    data: 'status',
    example: ofStatus('DEGRADED', 'UP'),
  },
  'monitor.partial': {
    description: 'Some probes reach a monitor and others do not, too few for an outage.',
    data: 'status',
    example: ofStatus('PARTIAL', 'UP'),
  },
  'monitor.warning': {
    description: 'A monitor is up with a warning, such as a certificate that ends soon.',
    data: 'status',
    example: ofStatus('WARNING', 'UP'),
  },
  'monitor.unknown': {
    description: 'Too few probes say anything of a monitor.',
    data: 'status',
    example: ofStatus('UNKNOWN', 'UP'),
  },
  'monitor.revised': {
    description: 'Late results changed the past of a monitor that was announced. At most one a minute.',
    data: 'revised',
    example: { since: onset },
  },
  'monitor.flapping': { description: 'A monitor began to change again and again, or ceased to.', data: 'flapping' },
  'monitor.paused': { description: 'Somebody paused a monitor.', data: 'act', example: act },
  'monitor.resumed': { description: 'Somebody resumed a monitor.', data: 'act', example: act },
  'monitor.reset': { description: 'Somebody reset the statistics of a monitor.', data: 'act', example: act },
  'monitor.moved': { description: 'Somebody moved a monitor to another workspace.', data: 'act', example: act },
  'monitor.deleted': { description: 'Somebody deleted a monitor.', data: 'act', example: act },
  'incident.opened': { description: 'An incident was opened.', data: 'incident', example: incident('investigating') },
  'incident.updated': {
    description: 'An incident has other members, another title or status, or somebody wrote something.',
    data: 'incident',
    example: incident('identified'),
  },
  'incident.acknowledged': {
    description: 'Somebody takes care of an incident.',
    data: 'incident',
    example: incident('investigating'),
  },
  'incident.resolved': { description: 'An incident is over.', data: 'incident', example: incident('resolved', over) },
  'incident.recovered': {
    description: 'What somebody resolved by hand is measured to be well.',
    data: 'incident',
    example: incident('resolved', over),
  },
  'incident.removed': {
    description: 'An incident was deleted, which says nothing of its members.',
    data: 'incident',
    example: { ...incident('investigating'), reason: 'removed' },
  },
  'heartbeat.missed': {
    description: 'A job did not signal in time.',
    data: 'signal',
    example: { ...ofStatus('down', 'up'), cause: 'missed' },
  },
  'heartbeat.failed': {
    description: 'A job signalled that it failed.',
    data: 'signal',
    example: { ...ofStatus('down', 'up'), cause: 'failed' },
  },
  'heartbeat.recovered': {
    description: 'A job is well again.',
    data: 'signal',
    example: { ...ofStatus('up', 'down'), cause: null },
  },
  'heartbeat.paused': {
    description: 'Somebody paused a heartbeat.',
    data: 'signal',
    example: { ...ofStatus('paused', 'up'), cause: null },
  },
  'heartbeat.resumed': {
    description: 'A heartbeat is expected again.',
    data: 'signal',
    example: { ...ofStatus('new', 'paused'), cause: null },
  },
  'heartbeat.deleted': {
    description: 'Somebody deleted a heartbeat.',
    data: 'signal',
    example: { status: null, previous: null, cause: null },
  },
  'webhook_check.missed': {
    description: 'An expected delivery did not come in time.',
    data: 'signal',
    example: { ...ofStatus('down', 'up'), cause: null },
  },
  'webhook_check.failed': {
    description: 'A delivery says that something failed.',
    data: 'signal',
    example: { ...ofStatus('down', 'up'), cause: null },
  },
  'webhook_check.recovered': {
    description: 'What a webhook check watches is well again.',
    data: 'signal',
    example: { ...ofStatus('up', 'down'), cause: null },
  },
  'webhook_check.paused': {
    description: 'Somebody paused a webhook check.',
    data: 'signal',
    example: { ...ofStatus('paused', 'up'), cause: null },
  },
  'webhook_check.resumed': {
    description: 'Somebody resumed a webhook check.',
    data: 'signal',
    example: { ...ofStatus('new', 'paused'), cause: null },
  },
  'webhook_check.deleted': {
    description: 'Somebody deleted a webhook check.',
    data: 'signal',
    example: { status: null, previous: 'up', cause: null },
  },
  'maintenance.started': { description: 'A maintenance begins.', data: 'maintenance', example: maintenance },
  'maintenance.ended': { description: 'A maintenance is over.', data: 'maintenance', example: maintenance },
  'maintenance.cancelled': {
    description: 'Somebody ended a maintenance before its time, or called off what was to come.',
    data: 'maintenance',
    example: maintenance,
  },
  'maintenance.all_clear': {
    description: 'Everything that a maintenance covered is well after it.',
    data: 'maintenance',
    example: { ...maintenance, incident_count: 2 },
  },
  'certificate.expiring': {
    description: 'A certificate ends soon.',
    data: 'expiry',
    example: { not_after: '2026-12-07T12:00:00.000Z', threshold_days: 14 },
  },
  'domain.expiring': {
    description: 'The registration of a domain ends soon.',
    data: 'expiry',
    example: { not_after: '2026-12-07T12:00:00.000Z', threshold_days: 14 },
  },
  'dnsbl.listed': { description: 'A blocklist has an address.', data: 'listing', example: { provider: 'zen.example' } },
  'dnsbl.delisted': {
    description: 'A blocklist no longer has an address.',
    data: 'listing',
    example: { provider: 'zen.example' },
  },
  'probe.offline': {
    description: 'A private probe has no connection.',
    data: 'probe',
    example: { region: 'berlin', reason: null },
  },
  'probe.online': {
    description: 'A private probe is connected again.',
    data: 'probe',
    example: { region: 'berlin', reason: null },
  },
  'probe.quarantined': {
    description: 'A private probe does not vote for now, since it contradicts the others.',
    data: 'probe',
    example: { region: 'berlin', reason: 'disagrees' },
  },
  'probe.released': {
    description: 'A private probe votes again.',
    data: 'probe',
    example: { region: 'berlin', reason: null },
  },
  'webhook.test': { description: 'Somebody tests a webhook.', data: 'plain' },
} as const satisfies Readonly<Record<string, Entry>>;

export type EventType = keyof typeof eventCatalogue;

/** Every type, in the order of the catalogue. */
export const eventTypeNames = Object.keys(eventCatalogue) as unknown as readonly [EventType, ...EventType[]];

const entryOf = (type: EventType): Entry => eventCatalogue[type];

/** Whether new webhooks are told of a type: of everything but probes and tests. */
export function isDefaultEvent(type: EventType): boolean {
  return !/^(probe|webhook)\./.test(type);
}

/** The body of an event: what webhooks send and `GET /events` gives. */
export function eventSchema(type: EventType) {
  return z.looseObject({
    type: z.literal(type),
    timestamp: timestamp.describe('When it became known.'),
    workspace_id: z.number().int(),
    sequence: z
      .number()
      .int()
      .describe(
        'Counts the events of one subject in one workspace, from 1, without a gap. Pass over what is lower than what you have had.',
      ),
    data: eventData[entryOf(type).data],
  });
}

/** The body of an event as an example of its type. */
export function exampleEvent(type: EventType): Readonly<Record<string, unknown>> {
  const subjectType = subjectTypeOf(type);
  const isMonitor = subjectType === 'monitor';
  const id = subjectType === 'incident' ? 88 : 17;
  return {
    type,
    timestamp: '2026-11-23T14:03:12.000Z',
    workspace_id: 3,
    sequence: 41,
    data: {
      subject: {
        type: subjectType,
        id,
        name: 'Shop',
        target: isMonitor ? 'https://shop.example/' : null,
        tags: [],
        group_ids: isMonitor ? [2] : [],
      },
      at: onset,
      in_maintenance: false,
      is_flapping: type === 'monitor.flapping',
      url: isMonitor ? 'https://parallax.example/monitors/17' : null,
      ...entryOf(type).example,
    },
  };
}

/** The kind of subject that a type is about. */
export function subjectTypeOf(type: EventType): string {
  const [kind = ''] = type.split('.');
  return kind === 'certificate' || kind === 'domain' || kind === 'dnsbl' ? 'monitor' : kind;
}

/** Statuses of monitors are one kind of the live stream, which names them in its payload. */
const statusTypes: ReadonlySet<string> = new Set(['down', 'up', 'degraded', 'partial', 'warning', 'unknown']);

/** The kind of the live stream that tells the same; undefined: none does. */
export function liveKindOf(type: EventType): LiveEventKind | undefined {
  const [kind, what = ''] = type.split('.');
  if (kind === 'monitor' && statusTypes.has(what)) return 'monitor.transition';
  return liveEventKinds.find((each) => each === (type === 'incident.removed' ? 'incident.deleted' : type));
}

/** Whether alerts can tell of a type. */
export function isAlertEvent(type: EventType): boolean {
  return alertEvents.some((event) => event === type);
}

/** A type as the API describes it. */
export type DescribedEvent = {
  readonly type: EventType;
  readonly description: string;
  readonly default: boolean;
  readonly alerts: boolean;
  readonly live: LiveEventKind | null;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly example: Readonly<Record<string, unknown>>;
};

/** The catalogue as the API gives it; the schemas are JSON Schema 2020-12. */
export function describedEvents(): readonly DescribedEvent[] {
  return eventTypeNames.map((type) => ({
    type,
    description: entryOf(type).description,
    default: isDefaultEvent(type),
    alerts: isAlertEvent(type),
    live: liveKindOf(type) ?? null,
    schema: z.toJSONSchema(eventSchema(type), { reused: 'inline' }) as Readonly<Record<string, unknown>>,
    example: exampleEvent(type),
  }));
}
