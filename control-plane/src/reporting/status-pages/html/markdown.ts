import MarkdownIt, { type Token } from 'markdown-it';
import { Html, escape, visible } from './markup.ts';

/** As long as a postmortem may be; bounds the work of one text. */
const maxCharacters = 50_000;

// HTML, images, tables and quotes are not read at all: they stay the text that somebody wrote. Lists nest 20 deep at most, which is the default
// of this preset.
const reader = new MarkdownIt('zero', { html: false, linkify: true, breaks: true }).enable([
  'autolink',
  'backticks',
  'emphasis',
  'entity',
  'escape',
  'fence',
  'heading',
  'link',
  'linkify',
  'list',
  'newline',
]);
// Only what has a scheme: `example.com` in a text may be a name.
reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
reader.validateLink = isLink;

/** Whether a page may link to it: the web and mail addresses alone. */
export function isLink(url: string): boolean {
  return /^(?:https?:\/\/|mailto:)/i.test(url) && URL.canParse(url);
}

/** What markdown says, in a small set of elements, none of which loads or runs anything. */
export function markdown(text: string): Html {
  const shown = visible(text);
  const cut = shown.length > maxCharacters ? `${shown.slice(0, maxCharacters)}…` : shown;
  return new Html(blocks(reader.parse(cut, {})));
}

function blocks(tokens: readonly Token[]): string {
  return tokens.map((token) => block(token)).join('');
}

function block(token: Token): string {
  switch (token.type) {
    case 'inline':
      return inlines(token.children ?? []);
    case 'paragraph_open':
      return token.hidden ? '' : '<p>';
    case 'paragraph_close':
      return token.hidden ? '' : '</p>';
    // The headings of the page are its own, so that one of a text would stand at a wrong level.
    case 'heading_open':
      return '<p><strong>';
    case 'heading_close':
      return '</strong></p>';
    case 'bullet_list_open':
      return '<ul>';
    case 'bullet_list_close':
      return '</ul>';
    case 'ordered_list_open':
      return `<ol${startOf(token)}>`;
    case 'ordered_list_close':
      return '</ol>';
    case 'list_item_open':
      return '<li>';
    case 'list_item_close':
      return '</li>';
    case 'fence':
      return `<pre><code>${escape(token.content)}</code></pre>`;
    default:
      return escape(token.content);
  }
}

function startOf(token: Token): string {
  const start = Number(token.attrGet('start') ?? 1);
  return Number.isSafeInteger(start) && start !== 1 ? ` start="${start}"` : '';
}

/** Emphasis deeper than lists may be is left out: the reader nests it without a limit. */
const maxEmphasis = 20;

function inlines(tokens: readonly Token[]): string {
  let depth = 0;
  let text = '';
  for (const token of tokens) {
    const isEmphasis = token.tag === 'strong' || token.tag === 'em';
    if (isEmphasis && token.nesting === 1) depth += 1;
    if (!isEmphasis || depth <= maxEmphasis) text += inline(token);
    if (isEmphasis && token.nesting === -1) depth -= 1;
  }
  return text;
}

function inline(token: Token): string {
  switch (token.type) {
    case 'softbreak':
    case 'hardbreak':
      return '<br>';
    case 'strong_open':
      return '<strong>';
    case 'strong_close':
      return '</strong>';
    case 'em_open':
      return '<em>';
    case 'em_close':
      return '</em>';
    case 'code_inline':
      return `<code>${escape(token.content)}</code>`;
    case 'link_open':
      return linkStart(String(token.attrGet('href') ?? ''));
    case 'link_close':
      return '</a>';
    default:
      return escape(token.content);
  }
}

function linkStart(url: string): string {
  return isLink(url) ? `<a href="${escape(url)}" rel="nofollow noopener">` : '<a>';
}
