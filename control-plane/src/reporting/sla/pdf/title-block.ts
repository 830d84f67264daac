import { cleanText } from '../../../platform/pdf/clean-text.ts';
import { setParagraph } from '../../../platform/pdf/paragraph.ts';
import type { SlaReport } from '../report.ts';
import type { Sheet } from './sheet.ts';
import { line, text } from './sheet.ts';
import { colors, styles } from './style.ts';

const longName = 60;
const columnGap = 14;

/** What the report is about: the monitor, its target, the period, and when it was made. */
export function drawTitleBlock(sheet: Sheet, report: SlaReport): void {
  const { document, flow, words } = sheet;
  document.group('Sect', () => {
    document.bookmark(sheet.chapter?.bookmark ?? words.title);
    const kicker = line(words.title, styles.kicker, flow.width);
    document.textLeaf('P', kicker, { x: flow.left, top: flow.take(kicker.height), color: colors.accent });
    flow.take(6);
    drawName(sheet, report);
    drawTarget(sheet, report);
    flow.take(14);
    drawFacts(sheet, report);
    drawClamp(sheet, report);
  });
}

function drawName({ document, flow }: Sheet, { monitor }: SlaReport): void {
  const name = cleanText(monitor.name, 300);
  const style = name.length > longName ? styles.longTitle : styles.title;
  const title = setParagraph(name, style, { width: flow.width, maxLines: 3, base: 'auto' });
  const top = flow.take(title.height);
  document.textLeaf('H1', title, { x: flow.left, top, width: flow.width, color: colors.ink });
}

function drawTarget({ document, flow }: Sheet, { monitor }: SlaReport): void {
  const protocol = line(cleanText(monitor.protocol, 40).toUpperCase(), styles.target, flow.width / 4);
  const indent = protocol.width + 8;
  // From left to right whatever it holds: an address must not read as another one.
  const target = setParagraph(cleanText(monitor.target, 2_000), styles.target, {
    width: flow.width - indent,
    maxLines: 3,
  });
  flow.take(4);
  const top = flow.take(Math.max(protocol.height, target.height));
  document.textLeaf('P', protocol, { x: flow.left, top, color: colors.faint });
  document.textLeaf('P', target, { x: flow.left + indent, top, color: colors.soft });
}

/** Label over value, side by side. */
function drawFacts(sheet: Sheet, report: SlaReport): void {
  const { document, flow } = sheet;
  document.artifact(() =>
    document.canvas
      .moveTo(flow.left, flow.top)
      .lineTo(flow.left + flow.width, flow.top)
      .lineWidth(0.8)
      .stroke(colors.rule),
  );
  const top = flow.top + 8;
  const facts = factsOf(sheet, report);
  const width = flow.width / facts.length;
  const heights = facts.map(({ label, values }, index) => {
    const head = line(label, styles.label, width - columnGap);
    const bodies = values.map((value) =>
      setParagraph(value, styles.value, { width: width - columnGap, maxLines: 2, base: 'auto' }),
    );
    const x = flow.left + index * width;
    document.textLeaf('P', head, { x, top, color: colors.faint });
    return bodies.reduce((height, body) => {
      document.textLeaf('P', body, { x, top: top + height, width: width - columnGap, color: colors.ink });
      return height + body.height;
    }, head.height);
  });
  flow.take(8 + Math.max(...heights));
}

function factsOf({ words, formats }: Sheet, { monitor, window, generatedMs }: SlaReport) {
  return [
    { label: words.head.workspace, values: [cleanText(monitor.workspaceName, 200)] },
    { label: words.head.period, values: [`${formats.dayAndTime(window.fromMs)} –`, formats.dayAndTime(window.toMs)] },
    { label: words.head.interval, values: [words.head.every(formats.duration(monitor.intervalSeconds * 1000))] },
    { label: words.head.generated, values: [formats.dayAndTime(generatedMs)] },
  ];
}

function drawClamp(sheet: Sheet, { window }: SlaReport): void {
  if (window.clampedBy === null) return;
  const { words, formats, flow } = sheet;
  const asked = formats.moment(window.requestedFromMs);
  flow.take(6);
  text(
    sheet,
    window.clampedBy === 'creation' ? words.head.clampedByCreation(asked) : words.head.clampedByReset(asked),
    styles.small,
  );
}
