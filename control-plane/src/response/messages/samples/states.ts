import { alone, minuteMs, nowMs, over, subject, vote, votes } from './parts.ts';
import type { Sample, SampleParts } from './parts.ts';

/** States of a monitor that are no outage. */
export function stateSamples(parts: SampleParts): readonly Sample[] {
  const { about } = parts;
  const { shop } = parts.names;
  return [
    {
      name: 'degraded',
      notice: about('opened', {
        ...alone,
        event: 'monitor.degraded',
        subjects: [subject(shop, { status: 'DEGRADED' })],
        votes: votes.map((each) => ({
          ...each,
          vote: 'DEGRADED',
          code: 'response_slow',
          text: 'It took 2.4 s, more than 1 s.',
        })),
        nextCheckMs: nowMs + minuteMs,
      }),
    },
    {
      name: 'degraded no longer',
      notice: about('resolved', {
        ...alone,
        ...over,
        event: 'monitor.degraded',
        subjects: [subject(shop, { status: 'DEGRADED' })],
      }),
    },
    {
      name: 'partial',
      notice: about('opened', {
        ...alone,
        event: 'monitor.partial',
        subjects: [subject(shop, { status: 'PARTIAL' })],
        votes,
      }),
    },
    {
      name: 'warning',
      notice: about('opened', {
        ...alone,
        event: 'monitor.warning',
        subjects: [subject(shop, { status: 'WARNING' })],
        votes: [vote('Frankfurt', 'eu-central', { vote: 'WARNING', code: 'tls_expires_soon', text: null })],
      }),
    },
    {
      name: 'unknown',
      notice: about('opened', {
        ...alone,
        event: 'monitor.unknown',
        subjects: [subject(shop, { status: 'UNKNOWN' })],
        missing: ['Frankfurt', 'Helsinki'],
      }),
    },
    {
      name: 'flapping',
      notice: about('opened', { ...alone, event: 'monitor.flapping', subjects: [subject(shop, { status: null })] }),
    },
    {
      name: 'flapping no longer',
      notice: about('resolved', {
        ...alone,
        ...over,
        event: 'monitor.flapping',
        subjects: [subject(shop, { status: null })],
      }),
    },
  ];
}
