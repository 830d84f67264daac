// Written from RFC 5322 (sections 2.1.1 and 3.6), RFC 2369 (List-Unsubscribe), RFC 8058 (one click), RFC 3834 (Auto-Submitted) and RFC 2046 (section
// 5.1.4, multipart/alternative), read 2026-11-23.
import type { TakenMail } from '../../../../platform/mail/testing/mail-server.ts';
import type { Message } from '../../../messages/message.ts';
import type { StandIn } from '../stand-in.ts';

/** Mail goes to the server of the installation, and not to an address of the channel: here is only who reads it. */
export const email: StandIn = {
  channel: 'email',
  documents: ['https://www.rfc-editor.org/rfc/rfc5322', 'https://www.rfc-editor.org/rfc/rfc8058'],
  settings: () => ({}),
  target: 'reader@example.com',
  handle: (_request, must) => {
    must(false, 'mail, and no request');
    return { status: 404 };
  },
  troubles: {},
};

/** What a reader of mail and the programs on the way hold against a mail that a message was made into. */
export function mailProblems(mail: TakenMail, message: Message): readonly string[] {
  const { parsed, raw } = mail;
  const header = (name: string) => parsed.headers.filter(({ key }) => key === name).map(({ value }) => value);
  const lines = raw.toString('latin1').split('\r\n');
  const html = parsed.html ?? '';
  const tags = html.match(/<[^>]*>/g) ?? [];
  const shown = textOf(html);
  const unsubscribe = message.links.find(({ purpose }) => purpose === 'unsubscribe');
  const links = [...html.matchAll(/\shref="(?<url>[^"]*)"/g)].map((one) => unescaped(one.groups?.['url'] ?? ''));
  const checks: readonly (readonly [boolean, string])[] = [
    [mail.to.length === 1 && mail.to[0] === email.target, 'one reader'],
    [header('bcc').length === 0 && header('cc').length === 0, 'no other reader'],
    [['from', 'to', 'subject', 'date', 'message-id'].every((name) => header(name).length === 1), 'each header once'],
    [lines.every((line) => line.length <= 998), 'lines of at most 998 characters'],
    [raw.every((byte) => byte < 128), 'seven bits, which every server takes'],
    [!/(?<!\r)\n|\r(?!\n)/.test(raw.toString('latin1')), 'line ends of two characters'],
    [header('auto-submitted')[0] === 'auto-generated', 'a mail that no responder answers'],
    [/^<[^\s<>@]+@[^\s<>@]+>$/.test(header('references').join()), 'the conversation that it belongs to'],
    [(header('content-type')[0] ?? '').startsWith('multipart/alternative;'), 'text and HTML'],
    [
      lines.findIndex((line) => /^Content-Type: text\/plain/i.test(line)) <
        lines.findIndex((line) => /^Content-Type: text\/html/i.test(line)),
      'the plainest first',
    ],
    [(parsed.subject ?? '').includes(squeezed(message.title).slice(0, 60)), 'a subject that says what happened'],
    [squeezed(parsed.text ?? '').includes(squeezed(message.summary)), 'the summary as text'],
    [squeezed(shown).includes(squeezed(message.summary)), 'the summary as HTML'],
    [message.facts.every(({ value }) => squeezed(shown).includes(squeezed(value))), 'every fact'],
    [parsed.attachments.length === 0, 'no attachment'],
    [
      tags.every((tag) => !/^<\/?(script|iframe|object|embed|form|input|img|link|svg|base)\b/i.test(tag)),
      'no active or foreign content',
    ],
    [
      !/@import|url\(|expression\(/i.test(html.match(/<style[\s\S]*?<\/style>/g)?.join('') ?? ''),
      'styles that fetch nothing',
    ],
    [tags.every((tag) => !/\son\w+\s*=|javascript:|url\(/i.test(tag)), 'no scripts in attributes'],
    [links.every((url) => message.links.some((link) => link.url === url)), 'links of the message only'],
    [message.links.every(({ url }) => squeezed(parsed.text ?? '').includes(url)), 'every link as text'],
  ];
  return [...checks, ...unsubscribeChecks(unsubscribe?.url, header)].flatMap(([holds, what]) => (holds ? [] : [what]));
}

/** RFC 2369 and RFC 8058: an https address, which mail programs POST to. */
function unsubscribeChecks(
  url: string | undefined,
  header: (name: string) => readonly string[],
): readonly (readonly [boolean, string])[] {
  if (url === undefined) return [[header('list-unsubscribe').length === 0, 'nothing to unsubscribe from']];
  return [
    [header('list-unsubscribe').join() === `<${url}>`, 'List-Unsubscribe'],
    [header('list-unsubscribe-post').join() === 'List-Unsubscribe=One-Click', 'List-Unsubscribe-Post'],
  ];
}

function textOf(html: string): string {
  return unescaped(html.replaceAll(/<head>[\s\S]*?<\/head>/g, '').replaceAll(/<[^>]*>/g, ' '));
}

function unescaped(text: string): string {
  const words: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
  return text.replaceAll(/&(?:#x(?<hex>[0-9a-f]+)|#(?<decimal>[0-9]+)|(?<word>[a-z]+));/gi, (whole, ...groups) => {
    const { hex, decimal, word } = groups.at(-1) as { hex?: string; decimal?: string; word?: string };
    if (word !== undefined) return words[word] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

/** Lines are broken where it suits, and direction marks keep a text from turning others around: neither counts. */
function squeezed(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069\u00ad\u200b]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
