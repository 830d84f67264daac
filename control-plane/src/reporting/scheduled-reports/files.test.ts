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

/** Above so many bytes Gmail cuts a mail ("[Message clipped]"). */
const mostOfMail = 102 * 1_024;

for (const count of [1, 100]) {
  void t.test(`the mail of ${count} monitors says what matters without being opened, and is not cut`, async (t) => {
    const api = await reportsApi(t);
    const { dueMs, toMs } = await weekly(api);
    await measuredMonitors(api, count, toMs);
    await api.make(dueMs);
    const mails = (await api.send()).toSorted((one, other) => one.to.join().localeCompare(other.to.join()));
    t.equal(mails.length, 2);
    for (const [locale, mail] of [
      ['en', mails[0]],
      ['ru', mails[1]],
    ] as const) {
      const { subject, text, html } = mail?.parsed ?? {};
      t.match(
        subject,
        locale === 'en' ? /^Shop: 99\.\d\d\d%, / : /^Shop: 99,\d\d\d\s%, /,
        'the figure stands in the list of mails',
      );
      t.match(text, 'Shop checkout');
      t.match(html, 'Shop checkout');
      t.match(text, locale === 'en' ? `of ${count} monitor` : `из ${count}`);
      t.ok(Buffer.byteLength(html ?? '') <= mostOfMail, `${Buffer.byteLength(html ?? '')} bytes`);
      const own = `mail-${locale}-${count}`;
      keep(`${own}.html`, (html ?? '').replaceAll(/cid:latency-(\d)@parallax/g, `${own}-$1.png`));
      for (const { contentId, content } of mail?.parsed.attachments ?? []) {
        const place = /latency-(\d)/.exec(contentId ?? '')?.[1];
        if (place !== undefined) keep(`${own}-${place}.png`, new Uint8Array(content as ArrayBuffer));
      }
    }
  });
}
