import { asText } from './as-text.ts';
import { escapeHtml } from './escape/html.ts';
import type { Message, MessageLink } from './message.ts';

export type MailContent = { readonly subject: string; readonly text: string; readonly html: string };

/** The message as a mail: one line of subject, a text, and the same as HTML. */
export function asMail(message: Message): MailContent {
  return { subject: message.title, text: `${asText(message)}\n`, html: asHtml(message) };
}

// Mail programs drop style sheets or parts of them, so every element carries its style; tables are what all of them lay out alike (Outlook renders by
// Word, which knows no max-width: the conditional comment gives it a width). One column of 600 px that shrinks on a telephone. Colours have a contrast of
// 7 : 1 or more against their ground, in the dark too, where programs that keep style sheets take the colours of `dark`, and others invert what they find.
const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const light = {
  ink: '#1b2430',
  muted: '#4a5565',
  paper: '#f3f5f8',
  card: '#ffffff',
  line: '#d9dee6',
  accent: '#1d4f91',
};
const dark = {
  ink: '#f0f3f7',
  muted: '#b8c1cd',
  paper: '#11161d',
  card: '#1b222c',
  line: '#36404d',
  accent: '#9cc3ff',
};

/** The bar at the top: what state it is before anything is read. */
const bars: Readonly<Record<Message['state'], string>> = {
  problem: '#a4161a',
  recovered: '#14663a',
  information: '#1d4f91',
};
const wideEnough = 600;

/** The message as an HTML document for mails. Every text is escaped; addresses stand in `href` only. */
export function asHtml(message: Message): string {
  const { locale, title, summary, facts, sections, links, state } = message;
  const bar = bars[state];
  const body = [
    `<h1 class="ink" style="margin:0 0 12px;${font};font-size:22px;line-height:28px;font-weight:600;color:${light.ink};${wraps}">${escapeHtml(title)}</h1>`,
    summary === ''
      ? ''
      : `<p class="ink" style="margin:0 0 20px;${font};font-size:16px;line-height:24px;color:${light.ink};${wraps}">${escapeHtml(summary)}</p>`,
    buttons(links, bar),
    factsTable(facts),
    ...sections.map(section),
    footer(links),
  ].filter((part) => part !== '');
  return `<!doctype html>
<html lang="${locale}" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${escapeHtml(title)}</title>
<style>
:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){
.paper{background-color:${dark.paper}!important}
.card{background-color:${dark.card}!important;border-color:${dark.line}!important}
.ink{color:${dark.ink}!important}
.muted{color:${dark.muted}!important}
.rule{border-color:${dark.line}!important}
.link,.link a{color:${dark.accent}!important}
}
@media (max-width:480px){
.pad{padding-left:18px!important;padding-right:18px!important}
.stack td{display:block!important;width:auto!important;padding-right:0!important}
.stack .label{border-bottom:0!important;padding-bottom:0!important}
.stack .value{border-top:0!important;padding-top:0!important}
}
</style>
</head>
<body class="paper" style="margin:0;padding:0;background-color:${light.paper}">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${escapeHtml(preheader(message))}</div>
<table role="presentation" class="paper" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:${light.paper}">
<tr><td align="center" style="padding:24px 12px">
<!--[if mso]><table role="presentation" width="${wideEnough}" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:${wideEnough}px;background-color:${light.card};border:1px solid ${light.line}">
<tr><td height="6" bgcolor="${bar}" style="height:6px;font-size:0;line-height:0;background-color:${bar}">&nbsp;</td></tr>
<tr><td class="pad" align="left" style="padding:24px 28px 20px;${font};text-align:left">
${body.join('\n')}
</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
</table>
</body>
</html>
`;
}

const wraps = 'overflow-wrap:anywhere;word-break:break-word';

/** What programs show beside the subject. */
function preheader({ summary, facts }: Message): string {
  return summary !== '' ? summary : facts.map(({ label, value }) => `${label}: ${value}`).join(' · ');
}

function factsTable(facts: Message['facts']): string {
  if (facts.length === 0) return '';
  const cell = `padding:8px 0;${font};font-size:15px;line-height:22px;vertical-align:top;text-align:left;border-top:1px solid ${light.line}`;
  const rows = facts.map(
    ({ label, value }) =>
      `<tr><td class="label muted rule" width="170" style="${cell};padding-right:16px;width:170px;color:${light.muted}">${escapeHtml(label)}</td><td class="value ink rule" style="${cell};color:${light.ink};${wraps}">${escapeHtml(value)}</td></tr>`,
  );
  return `<table class="stack" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 8px;border-collapse:collapse">
${rows.join('\n')}
</table>`;
}

function section({ heading, lines }: Message['sections'][number]): string {
  const shown = lines.map(
    (line) =>
      `<p class="ink" style="margin:0 0 6px;${font};font-size:15px;line-height:22px;color:${light.ink};${wraps}">${escapeHtml(line)}</p>`,
  );
  return `<h2 class="ink" style="margin:20px 0 8px;${font};font-size:16px;line-height:22px;font-weight:600;color:${light.ink};${wraps}">${escapeHtml(heading)}</h2>
${shown.join('\n')}`;
}

/** The page of it as a coloured button, what else can be done as plain links beside it. */
function buttons(links: readonly MessageLink[], colour: string): string {
  const open = links.find(({ purpose }) => purpose === 'open');
  const others = links.filter(({ purpose }) => purpose === 'acknowledge' || purpose === 'snooze');
  const cells = [
    ...(open === undefined
      ? []
      : [button(open, `background-color:${colour};border:1px solid ${colour}`, `bgcolor="${colour}"`, '#ffffff', '')]),
    ...others.map((link) => button(link, `border:1px solid ${light.line}`, '', light.accent, ' class="rule link"')),
  ];
  return cells.length === 0
    ? ''
    : `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 12px"><tr><td align="left">\n${cells.join('\n')}\n</td></tr></table>`;
}

/** A link in a cell of a table that floats: programs that know no padding of links still show a button, and narrow screens wrap the row. */
function button(
  { label, url }: MessageLink,
  cell: string,
  attributes: string,
  colour: string,
  classes: string,
): string {
  return `<table role="presentation" align="left" cellpadding="0" cellspacing="0" border="0" style="display:inline-table;margin:0 10px 10px 0"><tr><td${classes} ${attributes} style="${cell}"><a href="${escapeHtml(url)}" style="display:inline-block;padding:11px 18px;${font};font-size:16px;line-height:20px;font-weight:600;color:${colour};text-decoration:none">${escapeHtml(label)}</a></td></tr></table>`;
}

function footer(links: readonly MessageLink[]): string {
  const small = `${font};font-size:14px;line-height:20px`;
  const leave = links.find(({ purpose }) => purpose === 'unsubscribe');
  const parts = [
    `<span class="muted" style="color:${light.muted}">Parallax</span>`,
    ...(leave === undefined
      ? []
      : [
          `<span class="link" style="color:${light.accent}"><a href="${escapeHtml(leave.url)}" style="color:${light.accent}">${escapeHtml(leave.label)}</a></span>`,
        ]),
  ];
  return `<p class="rule" style="margin:24px 0 0;padding:14px 0 0;border-top:1px solid ${light.line};${small}">${parts.join(' &nbsp; ')}</p>`;
}
