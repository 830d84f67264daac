/** What a letter says, in plain words: rendered as text and as HTML. */
export type Letter = {
  readonly locale: 'en' | 'ru';
  readonly subject: string;
  /** Paragraphs before the link. */
  readonly paragraphs: readonly string[];
  /** The one thing to do; absent: nothing is to be done. */
  readonly action?: { readonly label: string; readonly url: string };
  /** Paragraphs after the link, in small print. */
  readonly notes?: readonly string[];
};

/** The bodies of a mail. */
export function renderLetter(letter: Letter): {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
} {
  const { subject, paragraphs, action, notes = [] } = letter;
  const text = [...paragraphs, ...(action === undefined ? [] : [`${action.label}:\n${action.url}`]), ...notes].join(
    '\n\n',
  );
  return { subject, text: `${text}\n`, html: htmlOf(letter) };
}

// Mail programs drop style sheets, so every element carries its style; tables are what all of them lay out alike (Outlook renders by Word).
// One column of 560 px that shrinks on a telephone; colours have a contrast of 7 : 1 or more, and a dark mode may invert them.
const font = "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const ink = '#1b2430';
const muted = '#4a5565';
const accent = '#1d4f91';
const paper = '#f3f5f8';
const line = '#d9dee6';

function htmlOf({ locale, subject, paragraphs, action, notes = [] }: Letter): string {
  const body = [
    `<h1 style="margin:0 0 16px;font-size:20px;line-height:28px;font-weight:600;color:${ink}">${escapeHtml(subject)}</h1>`,
    ...paragraphs.map((text) => paragraph(text, `margin:0 0 16px;font-size:16px;line-height:24px;color:${ink}`)),
    ...(action === undefined ? [] : [button(action.label, action.url), plainLink(locale, action.url)]),
    ...notes.map((text) => paragraph(text, `margin:0 0 12px;font-size:14px;line-height:20px;color:${muted}`)),
  ].join('\n');
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(subject)}</title>
</head>
<body style="margin:0;padding:0;background-color:${paper}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:${paper}">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:560px;background-color:#ffffff;border:1px solid ${line};border-radius:8px">
<tr><td style="padding:20px 28px 0;${font};font-size:14px;line-height:20px;font-weight:600;letter-spacing:.02em;color:${accent}">Parallax</td></tr>
<tr><td style="padding:12px 28px 20px;${font}">
${body}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

function paragraph(text: string, style: string): string {
  return `<p style="${style};overflow-wrap:anywhere">${escapeHtml(text)}</p>`;
}

/** A link in a coloured cell: programs that know no padding of links still show a button. */
function button(label: string, url: string): string {
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:8px 0 20px"><tr>
<td bgcolor="${accent}" style="border-radius:6px;background-color:${accent}"><a href="${escapeHtml(url)}" style="display:inline-block;padding:12px 22px;${font};font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${escapeHtml(label)}</a></td>
</tr></table>`;
}

const linkIntroduction = {
  en: 'If the button does not work, open this link:',
  ru: 'Если кнопка не работает, откройте эту ссылку:',
} as const;

function plainLink(locale: Letter['locale'], url: string): string {
  const shown = escapeHtml(url);
  return `<p style="margin:0 0 20px;font-size:14px;line-height:20px;color:${muted};word-break:break-all">${linkIntroduction[locale]}<br><a href="${shown}" style="color:${accent}">${shown}</a></p>`;
}

/** For text and quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
