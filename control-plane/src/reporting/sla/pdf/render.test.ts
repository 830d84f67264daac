import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { readPdf, shownGlyphs, squeeze } from '../../../platform/pdf/testing/read-pdf.ts';
import type { ReadPdf } from '../../../platform/pdf/testing/read-pdf.ts';
import type { SlaReport } from '../report.ts';
import { maxListedOutages } from './outage-table.ts';
import { renderReport } from './render.ts';
import { availabilityOf, manyOutages } from './sample-parts.fixture.ts';
import { emptyReport, manyScriptsReport, ordinaryReport } from './sample-reports.fixture.ts';

const dayMs = 86_400_000;

type TapTest = { ok(value: unknown, message: string): unknown };

function said(pdf: ReadPdf): string {
  return pdf.pages.map(({ squeezed }) => squeezed).join('\n');
}

function says(t: TapTest, pdf: ReadPdf, ...texts: string[]): void {
  for (const text of texts) t.ok(said(pdf).includes(squeeze(text)), text);
}

t.test('an ordinary report says what a customer wants to know', async (t) => {
  const report = ordinaryReport();
  const pdf = await readPdf(await renderReport(report, 'en'));
  says(
    t,
    pdf,
    'Shop checkout',
    report.monitor.target,
    'Example Retail',
    '1 March 2026, 00:00 – 31 March 2026, 00:00',
    '31 March 2026, 08:00',
    '99.501%',
    'Target of 99.9% missed',
    '2 h 52 min over',
    'Mean time to recovery 53 min 44 s',
    '95th percentile 287 ms',
    'Lowest: 86.666% on 12 March 2026.',
    '2026-03-12 22:00:00 2026-03-13 01:12:00 3 h 12 min Timeout response_timeout, 3 of 3 probes',
    'corrected, 40 min measured',
    'revised by late results',
    'fra-1 Frankfurt, DE 86,400',
    'ticket OPS-1842',
    'Dana Whitfield, 2026-03-21 09:00:00',
    '30 min before, 0 s after',
    'chain 1 of this monitor ended with entry 31',
    report.ledger.digest!,
    'POST /api/v1/sla/verify',
  );
});

t.test('a report tells programs what it is', async (t) => {
  const report = ordinaryReport();
  const pdf = await readPdf(await renderReport(report, 'en'));
  t.equal(pdf.information['Title'], 'Service level report: Shop checkout');
  t.equal(pdf.information['Author'], 'Example Retail');
  t.equal(pdf.information['Language'], 'en');
  t.match(pdf.information['Subject'], /Availability of Shop checkout, 1 March 2026/);
  t.equal(pdf.information['CreationDate'], 'D:20260331080001Z');
  t.ok(pdf.isTagged);
  for (const tag of ['H1', 'H2', 'Table', 'TH', 'TD', 'Figure']) t.ok(pdf.tags.includes(tag), tag);
  t.same(pdf.bookmarks, [
    'Service level report',
    'Summary',
    'Key figures',
    'Availability by day',
    'Response time',
    'Outages',
    'By probe',
    'Corrections',
    'How the figures are made',
    'How to verify this report',
  ]);
});

t.test('an empty report says that there is nothing, and no figure that there is not', async (t) => {
  const pdf = await readPdf(await renderReport(emptyReport(), 'en'));
  says(
    t,
    pdf,
    'Nothing was measured in this period',
    'The period begins when the monitor was created; asked for was 2026-02-28 01:00:00 UTC',
    'There was no outage in this period.',
    'No check got an answer in this period.',
    'No probe checked this monitor in the period.',
    'Nothing was corrected in this period',
    'Chain 1 of this monitor has no entry yet',
  );
  t.notMatch(said(pdf), /NaN|null|undefined|Infinity|100%ofmeasured/);
});

t.test('every page has its number, and every page of a table its header', async (t) => {
  const pdf = await readPdf(await renderReport(manyScriptsReport(), 'ru'));
  const count = pdf.pages.length;
  t.ok(count > 8);
  pdf.pages.forEach(({ squeezed }, index) => t.match(squeezed, squeeze(`Страница ${index + 1} из ${count}`)));
  const onPages = pdf.pages.map(({ squeezed }) => ({
    rows: [...squeezed.matchAll(/connect_refused/g)].length,
    headers: [...squeezed.matchAll(/Начало\(UTC\)Конец\(UTC\)/g)].length,
  }));
  for (const { rows, headers } of onPages) if (rows > 0) t.equal(headers, 1);
  t.ok(onPages.filter(({ rows }) => rows > 0).length > 5);
});

t.test('names in any script are drawn without a missing glyph', async (t) => {
  const report = manyScriptsReport();
  for (const locale of ['en', 'ru']) {
    const file = await renderReport(report, locale);
    t.notOk(shownGlyphs(file).includes(0));
    const pdf = await readPdf(file);
    t.notMatch(said(pdf), /\uFFFD/);
    says(
      t,
      pdf,
      'Główny serwer – Łódź',
      'Κεντρικός διακομιστής',
      '北京主服务器（生产）',
      '서울 모니터링 서버',
      'เซิร์ฟเวอร์หลักกรุงเทพ',
    );
    says(t, pdf, 'الرئيسي', 'ראשי');
  }
});

t.test('a name from right to left leaves the time beside it in its place', async (t) => {
  const pdf = await readPdf(await renderReport(manyScriptsReport(), 'en'));
  says(t, pdf, '3, 2026-03-06 00:00:00');
});

t.test('an override cannot disguise the address', async (t) => {
  const pdf = await readPdf(await renderReport(manyScriptsReport(), 'en'));
  says(t, pdf, 'next=moc.live&token');
  t.notMatch(said(pdf), /[\u202A-\u202E]/u);
});

t.test('of very many outages the longest are listed, and it is told what is left out', async (t) => {
  const outages = manyOutages(10_000, 90);
  const downMs = outages.reduce((sum, { downtimeMs }) => sum + downtimeMs, 0);
  const report: SlaReport = {
    ...ordinaryReport(),
    availability: availabilityOf({ downMs, upMs: 90 * dayMs - downMs }),
    outages,
    outagesOmitted: 500,
    incidents: 10_500,
  };
  const file = await renderReport(report, 'en');
  const pdf = await readPdf(file);
  says(t, pdf, `The 1,000 longest outages are listed. 9,500 more, with`, 'CSV export');
  t.equal(said(pdf).match(/2026-\d\d-\d\d\d\d:\d\d:\d\d2026-/g)?.length, maxListedOutages);
  t.ok(pdf.pages.length < 50);
  t.ok(file.length < 2_000_000, `${file.length} bytes`);
  const shortest = outages.toSorted((a, b) => a.measuredMs - b.measuredMs)[0]!;
  t.notMatch(said(pdf), squeeze(new Date(shortest.startedMs).toISOString().slice(0, 19).replace('T', '')));
});

t.test('of many probes and corrections it is told how many are left out', async (t) => {
  const report = ordinaryReport();
  const [probe] = report.probes;
  const [correction] = report.corrections;
  const pdf = await readPdf(
    await renderReport(
      {
        ...report,
        probes: Array.from({ length: 230 }, (_, index) => ({ ...probe!, probeId: index, name: `probe-${index}` })),
        corrections: Array.from({ length: 130 }, (_, index) => ({ ...correction!, id: index })),
      },
      'en',
    ),
  );
  says(t, pdf, '30 more probes are left out here.', '30 older corrections are left out here');
});

t.test('equal reports make equal bytes; other ones do not', async (t) => {
  const file = await renderReport(manyScriptsReport(), 'en');
  t.ok(file.equals(await renderReport(manyScriptsReport(), 'en')));
  t.notOk(file.equals(await renderReport({ ...manyScriptsReport(), generatedMs: 1_000 }, 'en')));
  t.equal(file.toString('latin1', file.length - 6), '%%EOF\n');
});

t.test('a target that nothing was measured against is neither met nor missed; one of 100% has no budget', async (t) => {
  const { budget, ...report } = ordinaryReport();
  const none = {
    ...budget!,
    isMet: null,
    budgetMs: 0,
    consumedMs: 0,
    remainingMs: 0,
    consumedShare: null,
    burnRate: null,
  };
  const unknown = await readPdf(await renderReport({ ...report, budget: none }, 'en'));
  says(t, unknown, 'Target of 99.9%');
  t.notMatch(said(unknown), /Targetof99.9%(met|missed)/);
  const strict = { ...none, targetPercent: 100, isMet: false, consumedMs: 5_000, remainingMs: -5_000 };
  says(
    t,
    await readPdf(await renderReport({ ...report, budget: strict }, 'en')),
    'Target of 100% missed',
    '5 s of 0 s used',
    '5 s over',
  );
  says(t, await readPdf(await renderReport({ ...report, budget: null }, 'en')), '4 Outages', '3 h 35 min Downtime');
});

t.test('whatever strangers call their things, a report comes out', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      'W'.repeat(5_000),
      '\u0300'.repeat(500),
      '\u202E'.repeat(300),
      '(((',
      '%%EOF',
      'endstream\nendobj',
      ')>><<',
    ),
  );
  await fc.assert(
    fc.asyncProperty(hostile, hostile, hostile, async (first, second, third) => {
      const report = ordinaryReport();
      const file = await renderReport(
        {
          ...report,
          monitor: { ...report.monitor, name: first, target: second, workspaceName: third, protocol: first },
          outages: report.outages.map((outage) => ({ ...outage, cause: second })),
          probes: report.probes.map((probe) => ({ ...probe, name: third, region: second })),
          corrections: report.corrections.map((correction) => ({ ...correction, reason: first, by: second })),
        },
        third,
      );
      const { pages } = await readPdf(file);
      return pages.length <= 4 && !shownGlyphs(file).includes(0);
    }),
    { numRuns: 15 },
  );
});
