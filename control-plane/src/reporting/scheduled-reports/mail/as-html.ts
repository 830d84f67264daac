import { escapeHtml } from '../../../platform/mail/letter.ts';
import type { BarLook } from './bars.ts';
import type { MailFacts, SubjectFacts } from './mail-facts.ts';

// As `letter.ts`: tables and styles in place, since mail programs drop style sheets and lay out tables alike. Bars are cells with a colour, since many
// programs load no pictures; each chart says in words what it shows.
const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const ink = '#1b2430';
const muted = '#4a5565';
const accent = '#1d4f91';
const paper = '#f3f5f8';
const line = '#d9dee6';

/** Colours whose order survives printing in grey, as in the PDF. */
const looks: Readonly<Record<BarLook, string>> = {
  full: '#b4dfc5',
  some: '#cf9f22',
  bad: '#7f1712',
  unmeasured: '#e3e7ec',
};

const table = (attributes: string, content: string): string =>
  `<table role="presentation" cellpadding="0" cellspacing="0" border="0" ${attributes}>${content}</table>`;

/** The mail as HTML, of one column that shrinks on a telephone. */
export function mailHtml(facts: MailFacts): string {
  const { locale, words } = facts;
  const body = [
    `<p style="margin:0 0 2px;font-size:14px;line-height:20px;color:${muted}">${escapeHtml(facts.kicker)}</p>`,
    `<h1 style="margin:0 0 4px;font-size:22px;line-height:30px;font-weight:600;color:${ink};overflow-wrap:anywhere">${escapeHtml(facts.title)}</h1>`,
    `<p style="margin:0 0 18px;font-size:15px;line-height:22px;color:${muted}">${escapeHtml(facts.period)}</p>`,
    figures(facts),
    ...(facts.target === null ? [] : [paragraph(facts.target)]),
    heading(words.subjects),
    ...(facts.subjects.length === 0 ? [paragraph(words.noSubjects)] : [subjects(facts), legend(facts)]),
    ...(facts.more === null ? [] : [paragraph(facts.more)]),
    heading(words.longest),
    facts.outages.length === 0 ? paragraph(words.noOutages) : outages(facts),
    ...(facts.latencies.length === 0 ? [] : [heading(words.response), latencies(facts)]),
    ...facts.notes.map(small),
    `<p style="margin:18px 0 0;padding-top:14px;border-top:1px solid ${line};font-size:13px;line-height:19px;color:${muted};overflow-wrap:anywhere">${escapeHtml(facts.why)} <a href="${escapeHtml(facts.unsubscribeUrl)}" style="color:${accent}">${escapeHtml(words.unsubscribe)}</a></p>`,
  ].join('\n');
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(facts.subject)}</title>
</head>
<body style="margin:0;padding:0;background-color:${paper}">
${table(
  `width="100%" style="background-color:${paper}"`,
  `<tr><td align="center" style="padding:24px 12px">
${table(
  `width="100%" style="max-width:600px;background-color:#ffffff;border:1px solid ${line};border-radius:8px"`,
  `<tr><td style="padding:20px 28px 0;${font};font-size:14px;line-height:20px;font-weight:600;letter-spacing:.02em;color:${accent}">Parallax</td></tr>
<tr><td style="padding:12px 28px 24px;${font}">
${body}
</td></tr>`,
)}
</td></tr>`,
)}
</body>
</html>
`;
}

/** The figures, two side by side: four would not fit on a telephone. */
function figures({ figures: shown }: MailFacts): string {
  const cells = shown.map(
    ([label, value], index) =>
      `<td width="50%" valign="top" style="padding:10px 8px 10px 16px;${font}"><span style="display:block;font-size:13px;line-height:18px;color:${muted}">${escapeHtml(label)}</span><strong style="display:block;font-size:${index === 0 ? 22 : 18}px;line-height:28px;font-weight:600;color:${ink}">${escapeHtml(value)}</strong></td>`,
  );
  const rows: string[] = [];
  for (let from = 0; from < cells.length; from += 2) {
    const [first = '', second = '<td width="50%"></td>'] = cells.slice(from, from + 2);
    rows.push(`<tr>${first}${second}</tr>`);
  }
  return table(`width="100%" style="margin:0 0 12px;background-color:${paper};border-radius:6px"`, rows.join(''));
}

function subjects(facts: MailFacts): string {
  const rows = facts.subjects.map(
    (subject) => `<tr>
<td style="padding:9px 0;border-top:1px solid ${line};${font}"><span style="display:block;margin:0 0 5px;font-size:15px;line-height:21px;color:${ink};overflow-wrap:anywhere">${escapeHtml(subject.name)}</span>${chart(facts, subject)}</td>
<td align="right" valign="top" style="padding:9px 0 9px 14px;border-top:1px solid ${line};${font};white-space:nowrap"><strong style="display:block;font-size:15px;line-height:21px;font-weight:600;color:${subject.look === 'bad' ? looks.bad : ink}">${escapeHtml(subject.uptime)}</strong>${subject.before === null ? '' : `<span style="display:block;font-size:12px;line-height:17px;color:${muted}">${escapeHtml(subject.before)}</span>`}</td>
</tr>`,
  );
  return table('width="100%" style="margin:0 0 8px"', rows.join('\n'));
}

/** The days as bars; of a single day how much of it was up. */
function chart({ words }: MailFacts, { bars, share, uptime, look }: SubjectFacts): string {
  if (bars.length > 0) {
    const withDowntime = bars.filter((bar) => bar === 'some' || bar === 'bad').length;
    const cells = bars.map((bar) => cell(looks[bar], 'border-right:2px solid #fff'));
    return strip(words.bars(bars.length, withDowntime), cells);
  }
  if (share === null) return strip(words.notMeasured, [cell(looks.unmeasured)]);
  const up = Math.round(share * 100);
  // A bar that is almost whole would look whole.
  const shown = share < 1 ? Math.min(99, Math.max(1, up)) : 100;
  const rest = shown === 100 ? [] : [cell(looks.bad, '', 100 - shown)];
  return strip(words.share(uptime), [cell(look === 'bad' ? looks.some : looks.full, '', shown), ...rest]);
}

const cell = (color: string, style = '', width?: number): string =>
  `<td bgcolor="${color}"${width === undefined ? '' : ` width="${width}%"`} style="height:14px;font-size:1px;line-height:1px;background-color:${color}${style === '' ? '' : `;${style}`}">&nbsp;</td>`;

const strip = (alt: string, cells: readonly string[]): string =>
  `<table role="img" aria-label="${escapeHtml(alt)}" title="${escapeHtml(alt)}" width="100%" cellpadding="0" cellspacing="0" border="0" style="table-layout:fixed"><tr>${cells.join('')}</tr></table>`;

function legend({ words }: MailFacts): string {
  const entry = (look: BarLook): string =>
    `<span style="display:inline-block;margin:0 12px 0 0;white-space:nowrap"><span style="display:inline-block;width:10px;height:10px;margin:0 5px 0 0;background-color:${looks[look]}"></span>${escapeHtml(words.legend[look])}</span>`;
  const entries = (['full', 'some', 'bad', 'unmeasured'] as const).map(entry).join(' ');
  return `<p style="margin:0 0 12px;font-size:12px;line-height:20px;color:${muted}">${entries}</p>`;
}

function outages({ outages: shown }: MailFacts): string {
  const rows = shown.map(
    ({ subject, when, downtime, cause }) => `<tr>
<td style="padding:9px 0;border-top:1px solid ${line};${font};font-size:15px;line-height:21px;color:${ink};overflow-wrap:anywhere">${escapeHtml(subject)}<span style="display:block;font-size:13px;line-height:18px;color:${muted}">${escapeHtml(when)}${cause === null ? '' : ` · ${escapeHtml(cause)}`}</span></td>
<td align="right" valign="top" style="padding:9px 0 9px 14px;border-top:1px solid ${line};${font};font-size:15px;line-height:21px;font-weight:600;color:${ink};white-space:nowrap">${escapeHtml(downtime)}</td>
</tr>`,
  );
  return table('width="100%" style="margin:0 0 14px"', rows.join('\n'));
}

function latencies({ latencies: shown }: MailFacts): string {
  return shown
    .map(
      ({ subject, figures: text, cid, alt }) =>
        `<p style="margin:0 0 4px;font-size:15px;line-height:21px;color:${ink};overflow-wrap:anywhere">${escapeHtml(subject)} <span style="font-size:13px;color:${muted}">${escapeHtml(text)}</span></p>
<img src="cid:${cid}" alt="${escapeHtml(alt)}" width="540" height="75" style="display:block;width:100%;max-width:540px;height:auto;margin:0 0 14px;border:0">`,
    )
    .join('\n');
}

const heading = (text: string): string =>
  `<h2 style="margin:18px 0 8px;font-size:16px;line-height:22px;font-weight:600;color:${ink}">${escapeHtml(text)}</h2>`;

const paragraph = (text: string): string =>
  `<p style="margin:0 0 12px;font-size:15px;line-height:22px;color:${ink};overflow-wrap:anywhere">${escapeHtml(text)}</p>`;

const small = (text: string): string =>
  `<p style="margin:0 0 6px;font-size:13px;line-height:19px;color:${muted};overflow-wrap:anywhere">${escapeHtml(text)}</p>`;
