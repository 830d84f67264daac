import type { Draft } from './translate.ts';

/** An event takes no more than these bytes. */
export const mostBytes = 20_000;
const mostText = 4_000;

/** The JSON of an event, with its longest texts cut and, where it is too long all the same, less of its members and tags. */
export function bodyOf(draft: Draft, sequence: number): string {
  const whole = {
    type: draft.type,
    timestamp: new Date(draft.knownMs).toISOString(),
    workspace_id: draft.workspaceId,
    sequence,
    data: draft.data,
  };
  const text = JSON.stringify(whole);
  const isShort = !longText.test(text) && Buffer.byteLength(text) <= mostBytes;
  return isShort ? text : shortened(whole);
}

// A text of this many characters is looked at; fewer cannot be too many.
const longText = new RegExp(`"(?:[^"\\\\]|\\\\.){${mostText},}"`);

function shortened(whole: { readonly data: Readonly<Record<string, unknown>> }): string {
  let isCut = false;
  const cut = JSON.stringify(whole, (_key, value: unknown) => {
    if (typeof value !== 'string' || Buffer.byteLength(value) <= mostText) return value;
    isCut = true;
    return cutText(value);
  });
  const read = JSON.parse(cut) as typeof whole;
  const marked = isCut ? { ...read, data: { ...read.data, truncated: true } } : read;
  const text = JSON.stringify(marked);
  if (Buffer.byteLength(text) <= mostBytes) return text;
  // What is left are lists: of members with their tags, and of tags and groups of the subject.
  const bare = { ...marked, data: { ...withoutLists(marked.data), truncated: true } };
  return JSON.stringify(bare);
}

function cutText(text: string): string {
  // Whole characters: half of a surrogate pair is no text.
  const bytes = Buffer.from(text).subarray(0, mostText - 4);
  return `${bytes.toString('utf8').replace(/\uFFFD+$/, '')}…`;
}

function withoutLists(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      if (key === 'members' && Array.isArray(value)) return [key, value.slice(0, 5).map(bareSubject)];
      return [key, key === 'subject' ? bareSubject(value) : value];
    }),
  );
}

function bareSubject(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return { ...value, tags: [], group_ids: [] };
}
