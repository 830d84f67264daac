import { alone, dayMs, hourMs, nowMs, over, subject } from './parts.ts';
import type { Sample, SampleParts } from './parts.ts';

/** What becomes of a name: its certificate, its registration, its place on blocklists. */
export function nameSamples({ about, names }: SampleParts): readonly Sample[] {
  const { shop } = names;
  return [
    {
      name: 'certificate expires',
      notice: about('opened', {
        ...alone,
        event: 'certificate.expiring',
        subjects: [subject(shop, { status: null })],
        startedMs: nowMs,
        details: { notAfterMs: nowMs + 7 * dayMs + hourMs, thresholdDays: 7 },
      }),
    },
    {
      name: 'certificate has expired',
      notice: about('opened', {
        ...alone,
        event: 'certificate.expiring',
        subjects: [subject(shop, { status: null })],
        startedMs: nowMs,
        details: { notAfterMs: nowMs - hourMs, thresholdDays: 0 },
      }),
    },
    {
      name: 'domain expires',
      notice: about('opened', {
        ...alone,
        event: 'domain.expiring',
        subjects: [subject('example.com', { status: null })],
        startedMs: nowMs,
        details: { notAfterMs: nowMs + 21 * dayMs + hourMs, thresholdDays: 21 },
      }),
    },
    {
      name: 'on a blocklist',
      notice: about('opened', {
        ...alone,
        event: 'dnsbl.listed',
        subjects: [subject('mail.example.com', { status: null })],
        details: { provider: 'zen.spamhaus.org' },
      }),
    },
    {
      name: 'off the blocklist',
      notice: about('resolved', {
        ...alone,
        ...over,
        event: 'dnsbl.listed',
        subjects: [subject('mail.example.com', { status: null })],
        details: { provider: 'zen.spamhaus.org' },
      }),
    },
  ];
}

/** What becomes of a probe. */
export function probeSamples({ about }: SampleParts): readonly Sample[] {
  return [
    {
      name: 'probe offline',
      notice: about('opened', {
        ...alone,
        event: 'probe.offline',
        subjects: [subject('office-1', { type: 'probe', status: null })],
        details: { region: 'eu-central' },
      }),
    },
    {
      name: 'probe online',
      notice: about('resolved', {
        ...alone,
        ...over,
        event: 'probe.offline',
        subjects: [subject('office-1', { type: 'probe', status: null })],
        details: { region: 'eu-central' },
      }),
    },
    {
      name: 'probe in quarantine',
      notice: about('opened', {
        ...alone,
        event: 'probe.quarantined',
        subjects: [subject('office-1', { type: 'probe', status: null })],
        details: { region: 'eu-central', reason: 'it contradicted all other probes on 5 of the 7 monitors' },
      }),
    },
  ];
}

/** What maintenance has left behind. */
export function maintenanceSamples({ about, names }: SampleParts): readonly Sample[] {
  const { shop, api, work } = names;
  return [
    {
      name: 'all clear after maintenance',
      notice: about('all_clear', {
        ...alone,
        ...over,
        event: 'maintenance.all_clear',
        subjects: [subject(work, { type: 'maintenance', status: null })],
        details: { incidents: [`${shop} is down`, `${api} does not answer in time`], incidentCount: 2 },
      }),
    },
  ];
}
