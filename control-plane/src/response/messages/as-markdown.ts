import { asText } from './as-text.ts';
import { markdownUrl } from './escape/markdown.ts';
import type { Message } from './message.ts';

export type MarkdownOptions = {
  /** One of `escape/`. */
  readonly escape: (text: string) => string;
  readonly most?: number;
  /** Marks around strong text: `**` of CommonMark, `*` of Slack. */
  readonly strong?: string;
  /** How a link is written; absent: `[label](<address>)`. */
  readonly link?: (label: string, url: string) => string;
  readonly withoutTitle?: boolean;
  /** What ends a line within a paragraph: CommonMark itself joins lines, most chats do not. */
  readonly lineBreak?: '\n' | '\\\n' | '  \n';
};

/** The message in a service's Markdown. Every text in it is escaped, addresses stand in links only. */
export function asMarkdown(message: Message, options: MarkdownOptions): string {
  const { escape, most, strong = '**', link = commonLink, withoutTitle = false, lineBreak = '\n' } = options;
  const width = lineBreak.length - 1;
  const text = asText(message, {
    escape,
    strong: (each) => (each === '' ? '' : strong + each + strong),
    link,
    withoutTitle,
    // Room for what is put at the end of every line; a message has fewer lines than this.
    ...(most === undefined ? {} : { most: width === 0 ? most : most - width * linesOf(message) }),
  });
  return width === 0 ? text : text.replaceAll(/(?<=[^\n])\n(?=[^\n])/gu, () => lineBreak);
}

function linesOf({ facts, sections, links }: Message): number {
  return 4 + facts.length + links.length + sections.reduce((sum, { lines }) => sum + lines.length + 2, 0);
}

function commonLink(label: string, url: string): string {
  return `[${label}](${markdownUrl(url)})`;
}
