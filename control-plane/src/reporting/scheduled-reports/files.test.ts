import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { needs } from '@parallax/testkit/needs';
import t from 'tap';
import type { Test } from 'tap';
import { keep, measuredMonitors, weekly } from './test-week.ts';
import { reportsApi } from './testing.ts';

/** The text of a PDF as another program reads it; undefined where that is not installed. */
function textOf(t: Test, pdf: Uint8Array): string | undefined {
  if (!needs(t, 'pdftotext')) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-report-'));
  const file = path.join(folder, 'report.pdf');
  writeFileSync(file, pdf);
  const { stdout, status } = spawnSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  t.equal(status, 0);
  return stdout.replaceAll('\u00A0', ' ');
}

for (const locale of ['en', 'ru'] as const) {
  for (const count of [1, 100]) {
    void t.test(`the PDF of ${count} monitors in ${locale} says everything, and is small and quick`, async (t) => {
      // Where nothing can read the large one, the small one shows that it is made.
      if (count > 1 && !needs(t, 'pdftotext')) return;
      const api = await reportsApi(t);
      const { report, dueMs, toMs } = await weekly(api, { locale, formats: ['pdf'] });
      await measuredMonitors(api, count, toMs);
      const startedMs = performance.now();
      await api.make(dueMs);
      const tookMs = performance.now() - startedMs;
      const run = await api.lastRun(report.id);
      t.match(run, { status: 'sent' });
      const { bytes } = await api.file(`/${report.id}/runs/${String(run['id'])}/pdf`);
      keep(`report-${locale}-${count}.pdf`, bytes);
      t.comment(`${count} monitors, ${locale}: ${Math.round(tookMs)} ms, ${bytes.length} bytes`);
      t.ok(bytes.length <= 2 * 1_024 * 1_024, `${bytes.length} bytes`);
      const text = textOf(t, bytes);
      if (text === undefined) return;
      const words =
        locale === 'en'
          ? ['Availability report', 'All subjects', 'The last day is provisional', 'How to verify this report']
          : ['Отчёт о доступности', 'Все объекты', 'Последний день предварительный', 'Как проверить этот отчёт'];
      for (const word of words) t.match(text, word);
      t.match(text, 'Shop checkout');
      const chapters = text.split(locale === 'en' ? 'Service level report' : 'Отчёт об уровне обслуживания').length - 1;
      t.ok(chapters >= Math.min(count, 50), `${chapters} chapters`);
    });
  }
}
