import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { renderReport } from './render.ts';
import { emptyReport, manyScriptsReport, ordinaryReport } from './sample-reports.fixture.ts';

// In a file of its own: it alone uses programs that may be missing, so it alone runs without them, too.
t.test('other programs find nothing wrong with the files, with a comment at their end', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'parallax-pdf-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [name, report] of Object.entries({
    empty: emptyReport(),
    ordinary: ordinaryReport(),
    scripts: manyScriptsReport(),
  })) {
    const file = path.join(folder, `${name}.pdf`);
    writeFileSync(file, Buffer.concat([await renderReport(report, 'en'), Buffer.from('%parallax-sample\n')]));
    const looks: readonly [string, string[]][] = [
      ['qpdf', ['--check', file]],
      ['pdfinfo', ['-struct', file]],
    ];
    for (const [program, parameters] of looks) {
      const { status, error, stdout, stderr } = spawnSync(program, parameters, { encoding: 'utf8' });
      if (error !== undefined) t.pass(`${program} is not installed here`);
      else t.same({ status, stderr }, { status: 0, stderr: '' }, `${program} ${name}: ${stdout.slice(-200)}`);
    }
  }
});
