import type { Outage, SlaReport } from '../report.ts';
import {
  availabilityOf,
  dayMs,
  daysOf,
  hourMs,
  latencySteps,
  manyOutages,
  minuteMs,
  noLatency,
  noTime,
  outageAt,
  probeOf,
  secondMs,
  startMs,
  sumOf,
} from './sample-parts.fixture.ts';

/** A monitor that was made an hour ago and has not been checked. */
export function emptyReport(): SlaReport {
  const availability = availabilityOf({ unknownMs: hourMs });
  return {
    monitor: {
      id: 7,
      name: 'New monitor',
      protocol: 'https',
      target: 'https://example.com/',
      workspaceId: 1,
      workspaceName: 'Personal',
      intervalSeconds: 60,
    },
    generatedMs: startMs + hourMs,
    window: {
      hours: 24,
      period: null,
      timezone: 'UTC',
      requestedToMs: startMs + hourMs,
      requestedFromMs: startMs - 23 * hourMs,
      fromMs: startMs,
      toMs: startMs + hourMs,
      clampedBy: 'creation',
    },
    availability,
    measured: availability,
    correctedMs: 0,
    outages: [],
    outagesOmitted: 0,
    incidents: 0,
    mttrMs: null,
    mtbfMs: null,
    latency: noLatency,
    latencySteps: [],
    days: [{ ...availability, day: '2026-03-01', fromMs: startMs, toMs: startMs + hourMs, outages: 0 }],
    probes: [],
    budget: null,
    corrections: [],
    ledger: { chain: 1, seq: 0, digest: null },
  };
}

/** Thirty days of a shop with four outages, one of them corrected. */
export function ordinaryReport(): SlaReport {
  const days = 30;
  const outages: Outage[] = [
    outageAt(3 * dayMs + 4 * hourMs + 123 * secondMs, 11 * minuteMs + 20 * secondMs, 'connect_refused, 2 of 3 probes'),
    outageAt(11 * dayMs + 22 * hourMs, 3 * hourMs + 12 * minuteMs, 'response_timeout, 3 of 3 probes', {
      status: 'TIMEOUT',
    }),
    outageAt(19 * dayMs + 2 * hourMs, 40 * minuteMs, 'http_status, 3 of 3 probes', {
      isCorrected: true,
      downtimeMs: 10 * minuteMs,
    }),
    outageAt(27 * dayMs + 9 * hourMs + 7 * minuteMs, 95 * secondMs, 'tls_handshake_failed, 2 of 3 probes', {
      isRevised: true,
    }),
  ];
  const downtimeMs = sumOf(outages, (outage) => outage.downtimeMs);
  const timeoutMs = outages[1]!.downtimeMs;
  const rest = { timeoutMs, degradedMs: 52 * minuteMs, unknownMs: 4 * minuteMs, maintenanceMs: 2 * hourMs };
  const availability = availabilityOf({
    ...rest,
    downMs: downtimeMs - timeoutMs,
    upMs: days * dayMs - downtimeMs - 58 * minuteMs - 2 * hourMs + 2 * minuteMs,
  });
  const correctedMs = 30 * minuteMs;
  const measured = availabilityOf({
    ...rest,
    downMs: availability.downMs + correctedMs,
    upMs: availability.upMs - correctedMs,
  });
  const budgetMs = availability.measuredMs * 0.001;
  return {
    monitor: {
      id: 42,
      name: 'Shop checkout',
      protocol: 'https',
      target: 'https://shop.example.com/api/v2/checkout/health?region=eu',
      workspaceId: 3,
      workspaceName: 'Example Retail',
      intervalSeconds: 30,
    },
    generatedMs: startMs + days * dayMs + 8 * hourMs + 1_234,
    window: {
      hours: days * 24,
      period: null,
      timezone: 'UTC',
      requestedToMs: startMs + days * dayMs,
      requestedFromMs: startMs,
      fromMs: startMs,
      toMs: startMs + days * dayMs,
      clampedBy: null,
    },
    availability,
    measured,
    correctedMs,
    outages,
    outagesOmitted: 0,
    incidents: outages.length,
    mttrMs: downtimeMs / outages.length,
    mtbfMs: 8 * dayMs - 40 * minuteMs,
    latency: {
      count: 258_912,
      meanMs: 131.2,
      minMs: 38.4,
      maxMs: 9_812,
      p50Ms: 118,
      p90Ms: 214,
      p95Ms: 287,
      p99Ms: 812,
    },
    latencySteps: latencySteps(startMs, days * dayMs, 180),
    days: daysOf(startMs, days, outages),
    probes: [
      probeOf(1, 'fra-1', 'Frankfurt, DE', 0.99842, 104),
      probeOf(2, 'iad-1', 'Ashburn, US', 0.99611, 192),
      probeOf(3, 'sgp-1', 'Singapore', 0.99377, 268),
    ],
    budget: {
      targetPercent: 99.9,
      isMet: availability.uptime! >= 0.999,
      budgetMs,
      consumedMs: downtimeMs,
      remainingMs: budgetMs - downtimeMs,
      consumedShare: downtimeMs / budgetMs,
      burnRate: downtimeMs / budgetMs,
      burnRate1h: 0,
      burnRate6h: 0,
    },
    corrections: [
      {
        id: 5,
        userId: 12,
        startedMs: outages[2]!.startedMs,
        endedMs: outages[2]!.startedMs + correctedMs,
        countedAs: 'UP',
        reason:
          'The checkout answered 503 to our probes only: the firewall of the customer had blocked them by mistake. Confirmed by the logs of the load balancer, ticket OPS-1842.',
        by: 'Dana Whitfield',
        createdMs: startMs + 20 * dayMs + 9 * hourMs,
        before: { ...noTime, downMs: correctedMs },
        after: { ...noTime, upMs: correctedMs },
      },
    ],
    ledger: {
      chain: 1,
      seq: 31,
      digest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
  };
}

const names = [
  'Główny serwer – Łódź',
  'Главный сервер, Москва',
  'Κεντρικός διακομιστής',
  'الخادم الرئيسي (api-v2) رقم 3',
  'שרת ראשי (api) 12',
  '北京主服务器（生产）',
  '東京サーバー「監視」',
  '서울 모니터링 서버',
  'เซิร์ฟเวอร์หลักกรุงเทพ',
  'मुख्य सर्वर, दिल्ली',
  'Հիմնական სერვერი',
  'Probe 👩‍💻 🇩🇪 ❤️ 🏳️‍🌈',
];

/** Ninety days with 300 outages, and names of strangers in many scripts, some of them hostile. */
export function manyScriptsReport(): SlaReport {
  const days = 90;
  const outages = manyOutages(300, days);
  const downtimeMs = sumOf(outages, (outage) => outage.downtimeMs);
  const availability = availabilityOf({ downMs: downtimeMs, upMs: days * dayMs - downtimeMs });
  const budgetMs = availability.measuredMs * 0.05;
  return {
    ...ordinaryReport(),
    monitor: {
      id: 99,
      name: 'Магазин – متجر الكتب (v2) – 書店サーバー 🛒',
      protocol: 'https',
      target: `https://xn--example.test/שלום/العربية/北京?next=\u202Emoc.live\u202C&${'token'.repeat(40)}`,
      workspaceId: 8,
      workspaceName: '株式会社サンプル',
      intervalSeconds: 300,
    },
    window: {
      hours: days * 24,
      period: null,
      timezone: 'UTC',
      requestedToMs: startMs + days * dayMs,
      requestedFromMs: startMs,
      fromMs: startMs,
      toMs: startMs + days * dayMs,
      clampedBy: 'reset',
    },
    generatedMs: startMs + days * dayMs,
    availability,
    measured: availability,
    correctedMs: 0,
    outages,
    incidents: outages.length,
    latencySteps: latencySteps(startMs, days * dayMs, 200),
    days: daysOf(startMs, days, outages),
    probes: names.map((name, index) => probeOf(index + 1, name, index % 2 === 0 ? 'Europe' : 'Asia', 0.999, 150)),
    budget: {
      targetPercent: 95,
      isMet: true,
      budgetMs,
      consumedMs: downtimeMs,
      remainingMs: budgetMs - downtimeMs,
      consumedShare: downtimeMs / budgetMs,
      burnRate: downtimeMs / budgetMs,
      burnRate1h: null,
      burnRate6h: 0.4,
    },
    corrections: names.map((name, index) => ({
      id: index + 1,
      userId: index === 2 ? null : index + 1,
      startedMs: startMs + index * dayMs,
      endedMs: startMs + index * dayMs + hourMs,
      countedAs: index % 2 === 0 ? 'EXCLUDED' : 'MEASURED',
      reason: index === 4 ? 'W'.repeat(2_000) : `${name}: ${name} `.repeat(index + 1),
      by: index === 2 ? 'User 3' : name,
      createdMs: startMs + (index + 2) * dayMs,
      before: { ...noTime, downMs: hourMs },
      after: { ...noTime, excludedMs: hourMs },
    })),
  };
}
