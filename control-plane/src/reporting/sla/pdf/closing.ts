import { setParagraph } from '../../../platform/pdf/paragraph.ts';
import type { TextStyle } from '../../../platform/pdf/paragraph.ts';
import type { SlaReport } from '../report.ts';
import { section, text } from './sheet.ts';
import type { Sheet } from './sheet.ts';
import { colors, styles } from './style.ts';

const verifyPath = 'POST /api/v1/sla/verify';
const betweenLines = 3;

/** What the figures mean. */
export function drawMethod(sheet: Sheet): void {
  const { method } = sheet.words;
  drawTogether(
    sheet,
    method.heading,
    method.lines.map((content) => ({ content })),
  );
}

/** Where the figures come from, and how anybody can see that the file is what was issued. @param report null: of several monitors, each with a ledger of its own */
export function drawProof(sheet: Sheet, report: SlaReport | null): void {
  const { proof } = sheet.words;
  const stand = report === null ? [] : ledgerEntries(sheet, report);
  drawTogether(sheet, proof.heading, [...stand, { content: proof.file }, { content: proof.verify(verifyPath) }]);
}

function ledgerEntries({ words, formats }: Sheet, { ledger }: SlaReport): Entry[] {
  const { proof } = words;
  const chain = formats.count(ledger.chain);
  return ledger.digest === null
    ? [{ content: proof.noEntry(chain) }]
    : [
        { content: proof.ledger(chain, formats.count(ledger.seq)) },
        { content: proof.digest, style: styles.label, color: colors.faint },
        { content: inGroups(ledger.digest), style: styles.value, color: colors.ink },
      ];
}

type Entry = { readonly content: string; readonly style?: TextStyle; readonly color?: string };

/** A few paragraphs that stay on one page. */
function drawTogether(sheet: Sheet, heading: string, entries: readonly Entry[]): void {
  const { flow } = sheet;
  const heights = entries.map(
    ({ content, style = styles.body }) => setParagraph(content, style, { width: flow.width }).height,
  );
  const height = heights.reduce((sum, one) => sum + one + betweenLines, 0);
  section(sheet, heading, height, () => {
    for (const { content, style, color } of entries) {
      text(sheet, content, style, color);
      flow.take(betweenLines);
    }
  });
}

/** Eight digits each, for the eye. */
function inGroups(digest: string): string {
  return (digest.match(/.{1,8}/gu) ?? []).join(' ');
}
