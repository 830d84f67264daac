import type { Locale } from './locale.ts';
import type { Notice, NoticeKind, NoticeLine, NoticeOccasion, NoticeSubject, NoticeVote } from './notice.ts';

// One notice of every kind: what docs/messages.md shows and tests walk over.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const nowMs = Date.UTC(2026, 10, 23, 2, 15);
const startedMs = nowMs - 12 * minuteMs;

type Sample = { readonly name: string; readonly notice: Notice };

const names = {
  en: {
    shop: 'Shop',
    api: 'API',
    backup: 'Nightly backup',
    orders: 'Orders',
    work: 'Move to the new rack',
    who: 'Ann Lee',
  },
  ru: { shop: 'Магазин', api: 'API', backup: 'Ночная копия', orders: 'Заказы', work: 'Переезд стойки', who: 'Анна Ли' },
} as const;

/** @param locale in which they are told; names are in the same language */
export function samples(locale: Locale): readonly Sample[] {
  const { shop, api, backup, orders, work, who } = names[locale];

  const subject = (name: string, more: Partial<NoticeSubject> = {}): NoticeSubject => ({
    type: 'monitor',
    id: 17,
    name,
    status: 'DOWN',
    startedMs,
    endedMs: null,
    ...more,
  });
  const vote = (probe: string, region: string, more: Partial<NoticeVote> = {}): NoticeVote => ({
    probe,
    region,
    vote: 'DOWN',
    code: 'connect_refused',
    text: 'The address 192.0.2.17:443 refused the connection.',
    ...more,
  });
  const votes = [
    vote('Frankfurt', 'eu-central'),
    vote('Helsinki', 'eu-north'),
    vote('New York', 'us-east', { vote: 'UP', code: null, text: null }),
  ];
  const occasion = (more: Partial<NoticeOccasion> = {}): NoticeOccasion => ({
    event: 'monitor.down',
    incidentId: 231,
    severity: 'major',
    title: `${shop} is down`,
    ownTitle: null,
    startedMs,
    endedMs: null,
    resolution: null,
    isAcknowledged: false,
    isManual: false,
    by: null,
    closing: null,
    subjects: [subject(shop)],
    subjectCount: 1,
    votes,
    missing: [],
    said: null,
    nextCheckMs: nowMs + minuteMs,
    details: {},
    ...more,
  });
  const notice = (kind: NoticeKind, more: Partial<Notice> = {}): Notice => ({
    id: `sample-${kind}`,
    subjectKey: 'incident:231',
    kind,
    atMs: nowMs,
    locale,
    timezone: locale === 'ru' ? 'Europe/Moscow' : 'Europe/Berlin',
    workspace: { id: 1, name: 'Example' },
    occasion: occasion(),
    reminder: null,
    step: null,
    update: null,
    digest: null,
    alertName: locale === 'ru' ? 'Дежурные' : 'On call',
    links: {
      open: 'https://status.example/incidents/231',
      acknowledge: 'https://status.example/acknowledge/4f1c',
      snooze: 'https://status.example/snooze/4f1c',
      unsubscribe: null,
    },
    ...more,
  });
  const about = (kind: NoticeKind, more: Partial<NoticeOccasion>, rest: Partial<Notice> = {}): Notice =>
    notice(kind, { occasion: occasion({ nextCheckMs: null, votes: [], ...more }), ...rest });
  const over = { endedMs: nowMs - 8000, resolution: 'auto', nextCheckMs: null } as const;
  const several = {
    subjects: [
      subject(shop),
      subject(api, { id: 18, status: 'TIMEOUT' }),
      subject(orders, { id: 19, startedMs: startedMs + 4000 }),
    ],
    subjectCount: 23,
  };
  const alone = { incidentId: null, severity: 'minor' } as const;
  const line = (name: string, event: string, minutes: number, more: Partial<NoticeLine> = {}): NoticeLine => ({
    event,
    severity: 'major',
    title: `${name} is down`,
    name,
    subjectCount: 1,
    startedMs: nowMs - minutes * minuteMs,
    endedMs: null,
    url: null,
    ...more,
  });
  const lines = [
    line(shop, 'monitor.down', 12),
    line(api, 'monitor.down', 12, { subjectCount: 4 }),
    line(backup, 'heartbeat.missed', 95),
    line(orders, 'monitor.degraded', 30, { endedMs: nowMs - 3 * minuteMs }),
  ];

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
    {
      name: 'digest',
      notice: notice('digest', { occasion: null, alertName: null, digest: { count: 57, lasting: 56, over: 1, lines } }),
    },
    {
      name: 'end of quiet hours',
      notice: notice('after_quiet', { occasion: null, digest: { count: 4, lasting: 3, over: 1, lines } }),
    },
    {
      name: 'end of quiet hours, all is well',
      notice: notice('after_quiet', {
        occasion: null,
        digest: { count: 1, lasting: 0, over: 1, lines: lines.slice(3) },
      }),
    },
    { name: 'test', notice: notice('test', { occasion: null }) },
  ];
}
