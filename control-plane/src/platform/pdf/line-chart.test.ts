import t from 'tap';
import { PdfDocument } from './document.ts';
import { drawLineChart } from './line-chart.ts';
import { drawings, readPdf } from './testing/read-pdf.ts';

const hourMs = 3_600_000;
const box = { x: 50, top: 50, width: 400, height: 120 };

async function chart(values: readonly (number | null)[]) {
  const document = new PdfDocument({ title: 'Chart', subject: '', author: '', language: 'en', createdMs: 0 });
  let above: number | undefined;
  document.leaf('Figure', () => {
    above = drawLineChart(
      document,
      {
        fromMs: 0,
        toMs: values.length * hourMs,
        series: [
          {
            color: '#0000ff',
            thickness: 1.25,
            points: values.map((value, index) => ({ atMs: (index + 0.5) * hourMs, value })),
          },
        ],
        valueLabel: (value) => `${value}ms`,
        timeLabel: (ms) => `${ms / hourMs}h`,
        ink: '#444444',
        rule: '#cccccc',
      },
      box,
    );
  });
  const file = await document.finish();
  const [drawing] = drawings(file);
  const line = drawing!.slice(drawing!.indexOf('1.25 w'));
  return {
    above,
    moves: line.match(/ m\n/g)?.length ?? 0,
    points: [...line.matchAll(/(\S+) (\S+) [ml]\n/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) })),
    texts: (await readPdf(file)).pages[0]!.texts,
  };
}

t.test('a line runs through its points, higher values higher up', async (t) => {
  const { points, moves, above } = await chart([10, 20, 30]);
  t.equal(moves, 1);
  t.equal(points.length, 3);
  t.ok(points[0]!.y > points[1]!.y && points[1]!.y > points[2]!.y);
  t.ok(points.every(({ x, y }) => x >= box.x && x <= box.x + box.width && y >= box.top && y <= box.top + box.height));
  t.equal(above, undefined);
});

t.test('a gap parts the line, and a value between two gaps is a dot', async (t) => {
  t.equal((await chart([10, 20, null, 30, 40])).moves, 2);
  const { points, moves } = await chart([10, 10, null, 20, null, 10, 10]);
  t.equal(moves, 3);
  t.same(points[2], points[3], 'a dot is a line to where it is');
});

t.test('axes tell values and times', async (t) => {
  const { texts } = await chart(Array.from({ length: 24 }, () => 95));
  t.ok(texts.includes('0ms') && texts.includes('100ms'));
  t.ok(texts.includes('0h') && texts.includes('12h'));
});

t.test(
  'a few peaks do not press the rest onto the ground: they leave the picture, and it is told how high they were',
  async (t) => {
    const values = Array.from({ length: 100 }, (_, index) => (index === 50 ? 9_000 : 100 + (index % 5)));
    const { above, points } = await chart(values);
    t.equal(above, 9_000);
    t.ok(points[0]!.y < box.top + box.height * 0.7, 'the usual values use the height');
  },
);

t.test('nothing to draw is no error', async (t) => {
  const { points, above } = await chart([null, null]);
  t.equal(points.length, 0);
  t.equal(above, undefined);
  t.equal((await chart([0, 0])).above, undefined);
});
