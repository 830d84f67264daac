import type { Message } from './message.ts';
import { cut } from './plain.ts';

export type TextOptions = {
  /** UTF-16 code units at most; no less than the title, its link and a line break need is ever useful. */
  readonly most?: number;
  /** Escapes a text for the service's markup; links are not passed through it. */
  readonly escape?: (text: string) => string;
  /** How a title is set off; absent: as it is. Gets text that is escaped. */
  readonly strong?: (text: string) => string;
  /** How a link is written: by label (escaped) and address; absent: `label: address`, and `label / label: address` where several lead to one place. */
  readonly link?: (label: string, url: string) => string;
  /** Without the title, where a service shows it elsewhere. */
  readonly withoutTitle?: boolean;
};

type Part = {
  /** Given away from the highest on. */
  readonly weight: number;
  readonly text: string;
};

/**
 * The message as lines of text. Where it must be cut, sections go first, then facts from the last on, then the summary is shortened; title and links stay.
 */
export function asText(message: Message, options: TextOptions = {}): string {
  const { most = Number.POSITIVE_INFINITY } = options;
  const parts = partsOf(message, options);
  const heaviest = [...new Set(parts.map(({ weight }) => weight))].sort((a, b) => b - a);
  for (const weight of [Number.POSITIVE_INFINITY, ...heaviest]) {
    const kept = parts.filter((part) => part.weight < weight);
    const text = joined(kept);
    if (text.length <= most) return text;
    if (weight === 1) break;
  }
  return shortest(message, options, most);
}

function partsOf(message: Message, options: TextOptions): Part[] {
  const { escape = same, strong = same, withoutTitle = false } = options;
  const parts: Part[] = [];
  if (!withoutTitle) parts.push({ weight: 0, text: strong(escape(message.title)) });
  if (message.summary !== '') parts.push({ weight: 1, text: escape(message.summary) });
  const facts = message.facts.map(({ label, value }, index) => ({
    weight: 10 + index,
    text: `${escape(label)}: ${escape(value)}`,
  }));
  parts.push(...(facts.length > 0 ? [{ weight: 10, text: '' }, ...facts] : []));
  for (const [index, { heading, lines }] of message.sections.entries())
    parts.push({
      weight: 100 + index,
      text: ['', strong(escape(heading)), ...lines.map((line) => escape(line))].join('\n'),
    });
  const links = linksOf(message, options);
  if (links !== '') parts.push({ weight: 0, text: `\n${links}` });
  return parts;
}

function linksOf(message: Message, { escape = same, link }: TextOptions): string {
  if (link !== undefined) return message.links.map(({ label, url }) => link(escape(label), url)).join('\n');
  // One page may do several things: in plain text its address, which is long, stands once.
  const labels = new Map<string, string[]>();
  for (const { label, url } of message.links) labels.set(url, [...(labels.get(url) ?? []), escape(label)]);
  return [...labels].map(([url, of]) => plainLink(of.join(' / '), url)).join('\n');
}

function joined(parts: readonly Part[]): string {
  return parts
    .map(({ text }) => text)
    .join('\n')
    .replace(/^\n+/u, '');
}

/** Title, as much of the summary as fits, and the first link; when even that is too long, the title is cut. */
function shortest(message: Message, options: TextOptions, most: number): string {
  const { escape = same, strong = same, link = plainLink, withoutTitle = false } = options;
  const [first] = message.links;
  const end = first === undefined ? '' : `\n\n${link(escape(first.label), first.url)}`;
  const start = withoutTitle ? '' : `${strong(escape(message.title))}\n`;
  const room = most - start.length - end.length;
  if (room >= 20) return start + fitted(message.summary, escape, room) + end;
  const roomOfTitle = most - end.length;
  const text = withoutTitle ? message.summary : message.title;
  if (roomOfTitle >= 20) return fitted(text, (each) => strong(escape(each)), roomOfTitle) + end;
  return fitted(text, escape, most);
}

/** Cut before it is escaped, so that no escape is torn apart; shorter until it fits. */
export function fitted(text: string, escape: (text: string) => string, most: number): string {
  let room = most;
  let result = escape(cut(text, room));
  while (result.length > most && room > 0) {
    room -= Math.max(1, Math.ceil((result.length - most) / 6));
    result = escape(cut(text, room));
  }
  return result.length > most ? '' : result;
}

function same(text: string): string {
  return text;
}

function plainLink(label: string, url: string): string {
  return `${label}: ${url}`;
}
