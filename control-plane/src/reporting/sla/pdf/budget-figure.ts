import { setParagraph } from '../../../platform/pdf/paragraph.ts';
import type { Paragraph } from '../../../platform/pdf/paragraph.ts';
import type { ErrorBudget } from '../report.ts';
import { line } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles } from './style.ts';

const barHeight = 9;
const aroundBar = 7;
const markWidth = 19;

/** The verdict on the target, and how much of the error budget was spent; drawn when its place is known. */
export type BudgetFigure = {
  /** Points. */
  readonly height: number;
  readonly draw: (x: number, top: number) => void;
};

/** @param width points */
export function setBudget(sheet: Sheet, budget: ErrorBudget, width: number): BudgetFigure {
  const { document, words } = sheet;
  const verdict = line(verdictText(sheet, budget), styles.verdict, width - markWidth);
  const rows = [
    `${words.summary.budget}: ${usedText(sheet, budget)}`,
    remainder(sheet, budget),
    burnText(sheet, budget),
  ]
    .filter((content) => content !== '')
    .map((content) => setParagraph(content, styles.small, { width, maxLines: 2 }));
  const rowsTop = verdict.height + barHeight + 2 * aroundBar;
  return {
    height: rows.reduce((height, row) => height + row.height, rowsTop),
    draw: (x, top) => {
      drawVerdict(sheet, budget, verdict, x, top);
      const bar = { x, top: top + verdict.height + aroundBar, width };
      document.leaf('Figure', () => drawBar(sheet, budget, bar), { alt: barAlt(sheet, budget) });
      let rowTop = top + rowsTop;
      for (const row of rows) {
        const at = rowTop;
        document.leaf('P', () => document.text(row, { x, top: at, color: colors.soft }));
        rowTop += row.height;
      }
    },
  };
}

function verdictText({ words, formats }: Sheet, { isMet, targetPercent }: ErrorBudget): string {
  const target = formats.percent(targetPercent);
  if (isMet === null) return words.summary.targetUnknown(target);
  return isMet ? words.summary.targetMet(target) : words.summary.targetMissed(target);
}

function drawVerdict(sheet: Sheet, { isMet }: ErrorBudget, verdict: Paragraph, x: number, top: number): void {
  const { document } = sheet;
  const color = isMet === null ? colors.soft : isMet ? colors.good : colors.bad;
  document.leaf('P', () => {
    if (isMet !== null) drawMark(sheet, { x: x + 6, y: top + verdict.height / 2, isMet, color });
    document.text(verdict, { x: isMet === null ? x : x + markWidth, top, color });
  });
}

/** A tick or a cross, so that the verdict does not hang on a colour. */
function drawMark(
  { document }: Sheet,
  { x, y, isMet, color }: { x: number; y: number; isMet: boolean; color: string },
): void {
  const { canvas } = document;
  canvas.circle(x, y, 6.5).fill(color);
  canvas.lineWidth(1.5).lineCap('round').lineJoin('round');
  if (isMet)
    canvas
      .moveTo(x - 2.9, y + 0.2)
      .lineTo(x - 0.8, y + 2.4)
      .lineTo(x + 3, y - 2.2);
  else
    canvas
      .moveTo(x - 2.3, y - 2.3)
      .lineTo(x + 2.3, y + 2.3)
      .moveTo(x - 2.3, y + 2.3)
      .lineTo(x + 2.3, y - 2.3);
  canvas.stroke('#ffffff');
}

function drawBar(
  { document }: Sheet,
  budget: ErrorBudget,
  { x, top, width }: { x: number; top: number; width: number },
): void {
  const share = consumedShare(budget);
  const { canvas } = document;
  canvas.save();
  canvas.roundedRect(x, top, width, barHeight, 2.5).clip();
  canvas.rect(x, top, width, barHeight).fill('#ffffff');
  if (share > 0)
    canvas
      .rect(x, top, Math.max(1.5, width * Math.min(1, share)), barHeight)
      .fill(share > 1 ? colors.bad : colors.accent);
  canvas.restore();
  canvas
    .roundedRect(x, top, width, barHeight, 2.5)
    .lineWidth(0.7)
    .stroke(share > 1 ? colors.bad : colors.faint);
}

/** A budget of nothing is spent by the first second. */
function consumedShare({ consumedShare, consumedMs }: ErrorBudget): number {
  return consumedShare ?? (consumedMs > 0 ? Infinity : 0);
}

function barAlt(sheet: Sheet, budget: ErrorBudget): string {
  return `${sheet.words.summary.budget}: ${usedText(sheet, budget)}, ${remainder(sheet, budget)}`;
}

function usedText({ words, formats }: Sheet, budget: ErrorBudget): string {
  const share = budget.consumedShare === null ? null : formats.share(budget.consumedShare);
  return words.summary.used(formats.duration(budget.consumedMs), formats.duration(budget.budgetMs), share);
}

function remainder({ words, formats }: Sheet, { remainingMs }: ErrorBudget): string {
  return remainingMs < 0
    ? words.summary.over(formats.duration(-remainingMs))
    : words.summary.left(formats.duration(remainingMs));
}

function burnText({ words, formats }: Sheet, { burnRate, burnRate6h, burnRate1h }: ErrorBudget): string {
  if (burnRate === null) return '';
  const recent = (
    [
      [burnRate6h, 6],
      [burnRate1h, 1],
    ] as const
  ).filter(([rate]) => rate !== null);
  const parts = recent.map(([rate, hours]) => `${words.summary.burnRateIn(hours)} ${formats.rate(rate!)}`);
  return [`${words.summary.burnRate} ${formats.rate(burnRate)}`, ...parts].join(' · ');
}
