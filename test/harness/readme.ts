/** A fenced block of a Markdown text: the word behind the fence, and the lines between. */
export type FencedBlock = { readonly language: string; readonly content: string };

export function fencedBlocks(markdown: string): readonly FencedBlock[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', content = '']) => ({
    language,
    content,
  }));
}
