import t from 'tap';
import { renderSlaPdf } from './index.ts';
import { renderReport } from './render.ts';
import { emptyReport, ordinaryReport } from './sample-reports.fixture.ts';

t.test('a report that is rendered in its process is the same file', async (t) => {
  const [english, russian, empty] = await Promise.all([
    renderSlaPdf(ordinaryReport()),
    renderSlaPdf(ordinaryReport(), { locale: 'ru' }),
    renderSlaPdf(emptyReport(), { locale: 'xx' }),
  ]);
  t.ok(english.equals(await renderReport(ordinaryReport(), 'en')));
  t.ok(russian.equals(await renderReport(ordinaryReport(), 'ru')));
  t.ok(empty.equals(await renderReport(emptyReport(), 'en')));
});
