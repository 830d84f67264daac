import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { emptyReport, manyScriptsReport, ordinaryReport } from '../pdf/sample-reports.fixture.ts';
import type { SlaReport } from '../report.ts';
import { reportCsv } from './csv.ts';
import { parseCsv, sectionOf } from './test-csv.ts';
import { percentOf } from '../../../platform/figures.ts';

void t.test('every record has the same number of cells, also of reports in many scripts', async (t) => {
  for (const report of [emptyReport(), ordinaryReport(), manyScriptsReport()]) {
    const records = parseCsv(reportCsv(report));
    t.equal(new Set(records.map(({ length }) => length)).size, 1);
    t.same(
      [...new Set(records.map(([section]) => section))],
      ['summary', 'day', 'probe', 'outage', 'correction'],
      'the sections in order',
    );
  }
});

void t.test('the figures are those of the report', async (t) => {
  const report = ordinaryReport();
  const text = reportCsv(report);
  const summary = Object.fromEntries(sectionOf(text, 'summary').map(({ name, value }) => [name, value]));
  t.match(summary, {
    monitor: 'Shop checkout',
    monitor_id: '42',
    time_zone: 'UTC',
    from: '2026-03-01T00:00:00.000Z',
    uptime_percent: String(percentOf(report.availability.uptime)),
    downtime_seconds: String(report.availability.downtimeMs / 1_000),
    timeout_seconds: String(report.availability.timeoutMs / 1_000),
    corrected_seconds: '1800',
    incidents: '4',
    slo_target_percent: '99.9',
    slo_met: 'no',
    response_time_p95_ms: '287',
    ledger_seq: '31',
    ledger_digest: report.ledger.digest,
  });
  const days = sectionOf(text, 'day');
  t.equal(days.length, 30);
  t.match(days[3], { date: '2026-03-04', outages: '1' });
  t.match(sectionOf(text, 'outage')[1], {
    status: 'TIMEOUT',
    cause: 'response_timeout, 3 of 3 probes',
    is_revised: 'no',
  });
  t.match(sectionOf(text, 'correction'), [
    { counted_as: 'UP', created_by: 'Dana Whitfield', downtime_seconds_before: '1800', downtime_seconds_after: '0' },
  ]);
  t.match(sectionOf(text, 'probe')[2], { probe_id: '3', region: 'Singapore' });
});

void t.test('nothing known is an empty cell', async (t) => {
  const summary = Object.fromEntries(
    sectionOf(reportCsv(emptyReport()), 'summary').map(({ name, value }) => [name, value]),
  );
  t.match(summary, {
    uptime_percent: '',
    mttr_seconds: '',
    response_time_p99_ms: '',
    ledger_digest: '',
    clamped_by: 'creation',
  });
  t.notOk('slo_met' in summary);
});

void t.test('what a stranger wrote stays in its cell and is no formula', async () => {
  const hostile = fc.string({
    unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', 'x', ' '),
    maxLength: 12,
  });
  fc.assert(
    fc.property(hostile, hostile, (name, reason) => {
      const report: SlaReport = ordinaryReport();
      const [correction] = report.corrections;
      if (correction === undefined) return false;
      const text = reportCsv({
        ...report,
        monitor: { ...report.monitor, name },
        corrections: [{ ...correction, reason }],
      });
      const cells = [
        sectionOf(text, 'summary').find((record) => record['name'] === 'monitor')?.['value'],
        sectionOf(text, 'correction')[0]?.['reason'],
      ];
      return (
        cells.every((cell) => cell !== undefined && !/^[=+\-@\t\r\n]/.test(cell)) &&
        cells[0]?.replace(/^'/, '') === name.replace(/^'/, '') &&
        cells[1]?.replace(/^'/, '') === reason.replace(/^'/, '')
      );
    }),
  );
});
