import { zeroWidth } from './look-alikes.ts';

// ASCII punctuation that means something in CommonMark 0.31, in GitHub's and Discord's extensions (tables, strikethrough, spoilers); a backslash
// before ASCII punctuation is always an escape (2.4).
const special = /[\\`*_{}[\]()<>#+\-.!|~=&"$^:]/gu;

/**
 * For CommonMark and its relatives (Discord, Mattermost, Rocket.Chat, GitHub, GitLab): the text stays text, within a line and at its beginning. Mentions
 * (`@everyone`, `@here`, `@user`) are broken by a zero-width space, also where the service would look for them in escaped text; so are addresses that would
 * become links by themselves.
 */
export function escapeMarkdown(text: string): string {
  return text
    .replaceAll(special, String.raw`\$&`)
    .replaceAll('@', `@${zeroWidth}`)
    .replaceAll(/(https?|ftp)(?=\\:\/\/)/giu, `$1${zeroWidth}`)
    .replaceAll(/www(?=\\\.)/giu, `$&${zeroWidth}`);
}

/** An address as the target of a Markdown link, in angle brackets. */
export function markdownUrl(url: string): string {
  return `<${url.replaceAll(/[<>\s\\]/gu, (character) => encodeURIComponent(character))}>`;
}
