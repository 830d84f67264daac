import { minuteMs, nowMs, over, subject, vote } from './parts.ts';
import type { Sample, SampleParts } from './parts.ts';

/** An incident begins: what was found, or who said so. */
export function openedSamples(parts: SampleParts): readonly Sample[] {
  const { locale, notice, about, occasion, several } = parts;
  const { shop, backup, orders } = parts.names;
  return [
    { name: 'opened', notice: notice('opened') },
    { name: 'opened, several at once', notice: notice('opened', { occasion: occasion(several) }) },
    {
      name: 'opened, no answer in time',
      notice: about('opened', {
        subjects: [subject(shop, { status: 'TIMEOUT' })],
        votes: [
          vote('Frankfurt', 'eu-central', { vote: 'TIMEOUT', code: 'http_timeout', text: null }),
          vote('Helsinki', 'eu-north', { code: 'http_status', text: 'The server answered 503 Service Unavailable.' }),
        ],
        missing: ['New York'],
        nextCheckMs: nowMs + minuteMs,
      }),
    },
    {
      name: 'opened, a heartbeat was missed',
      notice: about('opened', {
        event: 'heartbeat.missed',
        subjects: [subject(backup, { type: 'heartbeat', status: 'missed' })],
      }),
    },
    {
      name: 'opened, a heartbeat has failed',
      notice: about('opened', {
        event: 'heartbeat.failed',
        subjects: [subject(backup, { type: 'heartbeat', status: 'failed' })],
        said: 'exit code 2: pg_dump: error: connection to server failed\npg_dump: detail: timeout expired',
      }),
    },
    {
      name: 'opened, nothing came to a webhook check',
      notice: about('opened', {
        event: 'webhook_check.missed',
        subjects: [subject(orders, { type: 'webhook_check', status: 'missed' })],
      }),
    },
    {
      name: 'opened, a webhook check was told of a failure',
      notice: about('opened', {
        event: 'webhook_check.failed',
        subjects: [subject(orders, { type: 'webhook_check', status: 'failed' })],
        said: '$.status equals "failed"',
      }),
    },
    {
      name: 'opened, by a person',
      notice: about('opened', {
        event: 'incident.opened',
        isManual: true,
        title: locale === 'ru' ? 'Оплата картами недоступна' : 'Payments by card do not work',
        subjects: [],
        subjectCount: 0,
      }),
    },
  ];
}

/** An incident lasts. */
export function lastingSamples(parts: SampleParts): readonly Sample[] {
  const { locale, notice, occasion, several } = parts;
  const { who } = parts.names;
  return [
    {
      name: 'updated, others joined',
      notice: notice('updated', { occasion: occasion(several), update: { reason: 'members', text: null } }),
    },
    { name: 'updated, it goes on', notice: notice('updated', { update: { reason: 'reopened', text: null } }) },
    {
      name: 'updated, somebody wrote',
      notice: notice('updated', {
        update: {
          reason: 'update',
          text:
            locale === 'ru'
              ? 'Сгорел блок питания, замена через полчаса.'
              : 'A power supply has failed. It will be replaced within half an hour.',
        },
      }),
    },
    { name: 'reminder', notice: notice('reminder', { reminder: 2 }) },
    { name: 'escalated', notice: notice('escalated', { step: 1 }) },
    {
      name: 'acknowledged',
      notice: notice('acknowledged', { occasion: occasion({ isAcknowledged: true, by: who }) }),
    },
  ];
}

/** An incident is over, by what happened or by what a person did. */
export function overSamples(parts: SampleParts): readonly Sample[] {
  const { locale, notice, about, occasion, several } = parts;
  const { backup, who } = parts.names;
  return [
    { name: 'resolved', notice: notice('resolved', { occasion: occasion(over) }) },
    { name: 'resolved, several', notice: notice('resolved', { occasion: occasion({ ...over, ...several }) }) },
    {
      name: 'resolved, by a person',
      notice: notice('resolved', { occasion: occasion({ ...over, resolution: 'manual', by: who }) }),
    },
    {
      name: 'resolved, by a person with closing words',
      notice: notice('resolved', {
        occasion: occasion({
          ...over,
          resolution: 'manual',
          by: who,
          closing:
            locale === 'ru'
              ? 'Блок питания заменён.\nЗапасной лежит в стойке.'
              : 'The power supply was replaced.\nA spare one lies in the rack.',
        }),
      }),
    },
    {
      name: 'resolved, there was no outage',
      notice: notice('resolved', { occasion: occasion({ ...over, resolution: 'corrected' }) }),
    },
    {
      name: 'resolved, a heartbeat',
      notice: about('resolved', {
        ...over,
        event: 'heartbeat.missed',
        subjects: [subject(backup, { type: 'heartbeat', status: 'missed' })],
      }),
    },
    {
      name: 'removed by a person while it lasts',
      notice: notice('resolved', { occasion: occasion({ ...over, resolution: 'removed', by: who }) }),
    },
    {
      name: 'recovered after a person removed it',
      notice: notice('recovered', { occasion: occasion(over) }),
    },
    {
      name: 'closed, the statistics were reset',
      notice: notice('resolved', {
        occasion: occasion({ ...over, resolution: 'reset' }),
      }),
    },
    {
      name: 'recovered after it was resolved by a person',
      notice: notice('recovered', { occasion: occasion({ ...over, resolution: 'manual', by: who }) }),
    },
    { name: 'was down', notice: notice('was_down', { occasion: occasion(over) }) },
  ];
}
