import type { Matter } from '../words/words.ts';

const byEvent: Readonly<Record<string, Matter>> = {
  'monitor.down': 'down',
  'monitor.degraded': 'degraded',
  'monitor.partial': 'partial',
  'monitor.warning': 'warning',
  'monitor.unknown': 'unknown',
  'monitor.flapping': 'flapping',
  'certificate.expiring': 'certificate',
  'domain.expiring': 'domain',
  'dnsbl.listed': 'listed',
  'heartbeat.missed': 'missed',
  'heartbeat.failed': 'failed',
  'webhook_check.missed': 'not_received',
  'webhook_check.failed': 'failed',
  'probe.offline': 'offline',
  'probe.quarantined': 'quarantined',
};

const byStatus: Readonly<Record<string, Matter>> = {
  DOWN: 'down',
  TIMEOUT: 'timeout',
  DEGRADED: 'degraded',
  PARTIAL: 'partial',
  WARNING: 'warning',
  UNKNOWN: 'unknown',
  failed: 'failed',
};

type Seen = { readonly type: string; readonly status: string | null };

/** What is the matter with a subject, by its status where that tells more than the event. */
export function matterOf(event: string, subject: Seen | undefined): Matter {
  const ofEvent = byEvent[event];
  if (ofEvent !== undefined && ofEvent !== 'down' && ofEvent !== 'missed' && ofEvent !== 'not_received') return ofEvent;
  return matterOfSubject(subject) ?? ofEvent ?? 'incident';
}

/** What is the matter with a member; undefined: its status does not tell. */
export function matterOfSubject(subject: Seen | undefined): Matter | undefined {
  if (subject === undefined || subject.status === null) return undefined;
  if (subject.status === 'missed') return subject.type === 'webhook_check' ? 'not_received' : 'missed';
  return byStatus[subject.status];
}

/** Outages: what can be down together. */
export function isOutage(matter: Matter): boolean {
  return ['down', 'timeout', 'missed', 'not_received', 'failed'].includes(matter);
}
