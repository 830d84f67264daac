import type { Message } from '../../../messages/index.ts';

/** What a service worker is given, as JSON: docs/web-push.md says what each field is for. */
type PushNotification = {
  readonly version: 1;
  readonly id: string;
  /** A notification with the same tag takes the place of the one that is shown. */
  readonly tag: string;
  readonly kind: Message['kind'];
  readonly state: Message['state'];
  readonly severity: Message['severity'];
  readonly lang: string;
  readonly at: string;
  readonly title: string;
  readonly body: string;
  /** What a press on it opens. */
  readonly url: string | null;
  /** Buttons; browsers show two. */
  readonly actions: readonly { readonly action: string; readonly title: string; readonly url: string }[];
};

/**
 * What fits into one message: a push service takes 4,096 bytes (RFC 8030, section 7.2), of which 86 are the header and 17 the padding and the tag
 * of its only record (RFC 8291, section 4).
 */
export const mostPayloadBytes = 3_993;
/** What is sent to a service that takes less: bridges to older services carry about 3 kB in base64. */
export const shortPayloadBytes = 1_024;

// Longer addresses than any of ours: one that does not fit is left out rather than cut.
const mostUrlBytes = 400;
const mostActions = 2;
const cutMark = '…';

/** The notification of a message in at most so many bytes: its actions go first, then the body is cut and at last the title. */
export function notificationOf(message: Message, mostBytes: number): string {
  const open = message.links.find(({ purpose }) => purpose === 'open');
  const frame: PushNotification = {
    version: 1,
    id: message.id,
    tag: message.subjectKey,
    kind: message.kind,
    state: message.state,
    severity: message.severity,
    lang: message.locale,
    at: message.at,
    title: '',
    body: '',
    url: open !== undefined && cost(open.url) <= mostUrlBytes ? open.url : null,
    actions: [],
  };
  const room = mostBytes - Buffer.byteLength(JSON.stringify(frame));
  const actions = message.links
    .filter(({ purpose, label, url }) => purpose !== 'open' && cost(label) + cost(url) <= mostUrlBytes)
    .slice(0, mostActions)
    .map(({ purpose, label, url }) => ({ action: purpose, title: label, url }));
  const actionsCost = Buffer.byteLength(JSON.stringify(actions));
  const kept = actionsCost <= room / 2 ? actions : [];
  const words = room - (kept.length === 0 ? 0 : actionsCost);
  // The body leaves the title as much as it needs: without one, nobody knows what it is about.
  const title = cut(message.title, words);
  const body = cut(bodyOf(message), words - cost(title));
  return JSON.stringify({ ...frame, title, body, actions: kept });
}

function bodyOf({ summary, facts }: Message): string {
  return [summary, ...facts.map(({ label, value }) => `${label}: ${value}`)].filter((line) => line !== '').join('\n');
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

// What holds names apart that run from right to left: U+2068 opens, U+2069 closes.
const [isolateStart, isolateEnd] = ['\u2068', '\u2069'];

/** A text in at most so many bytes of JSON, cut between what people see as characters; what isolates it opens is closed. */
export function cut(text: string, mostBytes: number): string {
  if (cost(text) <= mostBytes) return text;
  let room = mostBytes - cost(cutMark);
  if (room < 0) return '';
  let length = 0;
  let open = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    const opened = Math.max(0, open + countOf(segment, isolateStart) - countOf(segment, isolateEnd));
    room -= cost(segment);
    if (room < opened * cost(isolateEnd)) break;
    length = index + segment.length;
    open = opened;
  }
  return `${text.slice(0, length).trimEnd()}${cutMark}${isolateEnd.repeat(open)}`;
}

function countOf(text: string, character: string): number {
  return text.split(character).length - 1;
}

/** Bytes that a text takes inside JSON, without the quotation marks. */
function cost(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
