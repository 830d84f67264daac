// Written from https://core.telegram.org/bots/api (Making requests; Formatting options, HTML style; sendMessage; ResponseParameters), from memory. Checked on 2026-11-23: names of
// parameters and the length of a text in libraries that are made from it (teloxide-core, telers), the tags and entities in copies of its section, and that "General" is no thread for sendMessage in issues 472 and 798 of
// tdlib/telegram-bot-api. The sentences of errors were compared with the list of TelegramBotAPI/errors.
import type { StandIn } from '../stand-in.ts';

const token = '7654321:messenger-own-bot-token-credential';
const tags = new Set([
  'b',
  'strong',
  'i',
  'em',
  'u',
  's',
  'code',
  'pre',
  'a',
  'tg-spoiler',
  'blockquote',
  'tg-emoji',
  'ins',
  'strike',
  'del',
]);

/** The text that is left of HTML as the Bot API reads it, or what it says about it. */
function read(html: string): { readonly text: string } | { readonly problem: string } {
  const open: string[] = [];
  let text = '';
  for (const [, tag, entity, other] of html.matchAll(/(<[^>]*>?)|(&[a-z0-9#]*;?)|([^<&]+)/gis)) {
    if (other !== undefined) text += other;
    if (entity !== undefined) {
      if (!/^&(amp|lt|gt|quot|#[0-9]+|#x[0-9a-f]+);$/i.test(entity)) return { problem: `the entity ${entity}` };
      text += '.';
    }
    if (tag === undefined) continue;
    const [, slash, name = '', attributes = ''] = /^<(\/?)([a-z-]+)( href="[^"<>]*")?>$/i.exec(tag) ?? [];
    if (!tags.has(name)) return { problem: `the tag ${tag}` };
    if (slash === '/') {
      if (open.pop() !== name) return { problem: `${tag} closes what is not open` };
    } else {
      if ((name === 'a') !== (attributes !== '')) return { problem: `the attributes of ${tag}` };
      open.push(name);
    }
  }
  return open.length === 0 ? { text } : { problem: `${open.join()} is not closed` };
}

const refused = (code: number, description: string, parameters?: object) => ({
  status: code,
  json: { ok: false, error_code: code, description, ...(parameters && { parameters }) },
});

/** The Bot API's sendMessage, as a bot of the user's own calls it. */
export const messenger: StandIn = {
  channel: 'messenger',
  documents: ['https://core.telegram.org/bots/api#sendmessage', 'https://core.telegram.org/bots/api#html-style'],
  settings: () => ({ bot_token: token }),
  target: '-1001234567890:17',
  handle: (request, must) => {
    must(request.method === 'POST', 'POST');
    must(request.path === `/bot${token}/sendMessage`, 'the method behind the token');
    must(request.headers['content-type'] === 'application/json', 'JSON');
    const body = (request.json ?? {}) as Record<string, unknown>;
    must(body['chat_id'] === -1001234567890, 'chat_id as a number');
    must(body['message_thread_id'] === 17, 'the topic, which is never 1');
    must(body['parse_mode'] === 'HTML', 'parse_mode');
    const parsed = read(String(body['text']));
    if ('problem' in parsed) must(false, parsed.problem);
    else {
      must(parsed.text.trim() !== '', 'a text');
      must(parsed.text.length <= 4_096, '4096 characters after entities are parsed');
    }
    return {
      status: 200,
      json: { ok: true, result: { message_id: 99, date: 1, chat: { id: -1001234567890, type: 'supergroup' } } },
    };
  },
  troubles: {
    refused_credentials: refused(401, 'Unauthorized'),
    unknown_target: refused(403, 'Forbidden: bot was kicked from the supergroup chat'),
    rate_limited: refused(429, 'Too Many Requests: retry after 7', { retry_after: 7 }),
    refused_message: refused(400, "Bad Request: can't parse entities: Unexpected end tag at byte offset 3"),
    service_unavailable: refused(502, 'Bad Gateway'),
  },
  saysHowLong: true,
};
