import type { Message, MessageLink } from '../../../messages/index.ts';
import { cut, type Measure, units } from './cut.ts';

/** How a service writes what a message has. The functions get plain text and give markup. */
export type Markup = {
  readonly escape: (text: string) => string;
  readonly title: (text: string) => string;
  readonly heading: (text: string) => string;
  readonly fact: (label: string, value: string) => string;
  readonly link: (link: MessageLink) => string;
};

/** What is said in the text itself; what a service shows in places of its own (a title, buttons) is left out here. */
type Parts = {
  readonly title?: boolean;
  readonly facts?: boolean;
  readonly sections?: boolean;
  readonly links?: boolean;
};

/**
 * A message as one text of at most `limit`, by whatever measure a service has, and line by line: a digest that is cut still names the first of its subjects. Mails and
 * histories have room for all of it and are written by `asText` of messages. Where all of it has no room, what weighs least goes first: the lines of sections, then facts from
 * the last; then the summary is cut. Title and links stay.
 */
export function layOut(
  message: Message,
  markup: Markup,
  limit: number,
  parts: Parts = {},
  measure: Measure = units,
): string {
  const { title = true, facts = true, sections = true, links = true } = parts;
  const escaped: Measure = (text) => measure(markup.escape(text));
  const head = title ? markup.title(cut(message.title, Math.floor(limit / 3), escaped)) : '';
  const tail = links ? linksThatFit(message, markup, Math.floor(limit / 3), measure) : '';
  const around = measure([head, tail].filter(notEmpty).join('\n')) + 2;
  const summary = markup.escape(cut(message.summary, Math.max(0, limit - around), escaped));

  const gap = measure('\n\n');
  let room = limit - measure([head, summary, tail].filter(notEmpty).join('\n\n'));
  const taken: string[] = [];
  for (const block of [
    ...(facts ? [factsOf(message, markup)] : []),
    ...(sections ? sectionsOf(message, markup) : []),
  ]) {
    const lines = linesThatFit(block, room - gap, measure);
    if (lines.length < Math.min(block.length, 2)) break;
    const text = lines.join('\n');
    taken.push(text);
    room -= measure(text) + gap;
    if (lines.length < block.length) break;
  }
  return [[head, summary].filter(notEmpty).join('\n'), ...taken, tail].filter(notEmpty).join('\n\n');
}

function factsOf(message: Message, markup: Markup): readonly string[] {
  return message.facts.map(({ label, value }) => markup.fact(label, value));
}

function sectionsOf(message: Message, markup: Markup): readonly (readonly string[])[] {
  return message.sections.map(({ heading, lines }) => [markup.heading(heading), ...lines.map(markup.escape)]);
}

/** Links are whole or not there: half an address leads nowhere. */
function linksThatFit(message: Message, markup: Markup, limit: number, measure: Measure): string {
  return linesThatFit(message.links.map(markup.link), limit, measure).join('\n');
}

function linesThatFit(lines: readonly string[], limit: number, measure: Measure): readonly string[] {
  const taken: string[] = [];
  let room = limit;
  for (const line of lines) {
    room -= measure(line) + (taken.length === 0 ? 0 : measure('\n'));
    if (room < 0) break;
    taken.push(line);
  }
  return taken;
}

const notEmpty = (text: string) => text !== '';

/** Plain text: nothing in it means anything. */
export const plain: Markup = {
  escape: (text) => text,
  title: (text) => text,
  heading: (text) => `${text}:`,
  fact: (label, value) => `${label}: ${value}`,
  link: ({ label, url }) => `${label}: ${url}`,
};
