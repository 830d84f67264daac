import type { Message } from '../../../messages/index.ts';

/** The page that shows what a message is about; undefined: it has none. At most `limit` UTF-16 code units, as half an address leads nowhere. */
export function openLink({ links }: Message, limit = 2000): string | undefined {
  const url = links.find(({ purpose }) => purpose === 'open')?.url;
  return url !== undefined && url.length <= limit ? url : undefined;
}
