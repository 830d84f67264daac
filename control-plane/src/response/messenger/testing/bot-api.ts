import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { TestContext } from '@parallax/testkit';
import { parseHtmlStyle } from './html-style.ts';

/*
 * For tests: the messenger as bots see it. Written from https://core.telegram.org/bots/api (Making requests, Getting updates, sendMessage,
 * answerCallbackQuery, editMessageReplyMarkup, leaveChat, ResponseParameters). Checked on 2026-11-23 against the first of these, for lengths against libraries that are made
 * from it (teloxide-core, telegram-bot-api, grammY: texts of 4,096 and 200 characters, 64 bytes behind a button), and for topics against issues 472 and 798 of
 * tdlib/telegram-bot-api. The sentences of other errors are from memory.
 */

type Fields = Record<string, unknown>;

/** A chat as the stand-in knows it. */
export type KnownChat = {
  readonly type: 'private' | 'group' | 'supergroup';
  /** What the bot is answered that writes there. */
  trouble?: 'kicked' | 'blocked' | { readonly movedTo: number } | { readonly retryAfterSeconds: number };
};

export type SentMessage = {
  readonly chatId: number;
  readonly messageId: number;
  /** As it was sent. */
  readonly html: string;
  /** Without markup. */
  readonly text: string;
  keyboard: unknown;
};

export type TestBotApi = {
  readonly baseUrl: string;
  readonly token: string;
  readonly botId: number;
  readonly username: string;
  readonly chats: Map<number, KnownChat>;
  readonly sent: SentMessage[];
  /** What pressed buttons were answered, by the query's identifier. */
  readonly answered: Map<string, string>;
  readonly left: number[];
  /** Every call, in order. */
  readonly calls: { readonly method: string; readonly params: Fields }[];
  readonly webhook: () => Fields | null;
  /** Something happens; the update that tells of it, also for a webhook. */
  readonly tell: (update: Fields) => Fields & { readonly update_id: number };
  /** Somebody writes. */
  readonly write: (chatId: number, from: Fields, text: string) => Fields & { readonly update_id: number };
  /** Somebody presses a button under a message that was sent. */
  readonly press: (message: SentMessage, from: Fields, data: string) => string;
  /** Updates that were not confirmed. */
  readonly waiting: () => number;
  /** As if they had been: the next question does it in the world. */
  readonly confirm: () => void;
  /** Answers every call with this status from now on; undefined: as usual. */
  fail: { readonly status: number; readonly retryAfterSeconds?: number } | undefined;
};

class Refusal extends Error {
  readonly status: number;
  readonly parameters: Fields | undefined;

  constructor(status: number, description: string, parameters?: Fields) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

/** Starts it; it ends with the test. */
export async function testBotApi(
  t: TestContext,
  token = '123456789:AAtest-token_of-a-bot-that-is-none',
): Promise<TestBotApi> {
  const botId = Number(token.split(':')[0]);
  const chats: TestBotApi['chats'] = new Map();
  const sent: SentMessage[] = [];
  const answered: TestBotApi['answered'] = new Map();
  const queries = new Set<string>();
  const left: number[] = [];
  const calls: TestBotApi['calls'] = [];
  let updates: (Fields & { readonly update_id: number })[] = [];
  let lastUpdate = 500;
  let lastMessage = 10;
  let webhook: Fields | null = null;
  let allowed: readonly string[] | null = null;
  let pending: { readonly answer: () => void; readonly conflict: () => void } | undefined;

  const handlers: Record<string, (params: Fields) => unknown> = {
    getMe: () => ({ id: botId, is_bot: true, first_name: 'Parallax', username: 'parallax_test_bot' }),
    setWebhook: (params) => {
      const { url, secret_token: secret } = params;
      if (typeof url !== 'string' || !url.startsWith('https://')) {
        throw new Refusal(400, 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook');
      }
      if (secret !== undefined && !(typeof secret === 'string' && /^[A-Za-z0-9_-]{1,256}$/.test(secret))) {
        throw new Refusal(400, 'Bad Request: secret token contains unallowed characters');
      }
      webhook = params;
      return true;
    },
    deleteWebhook: () => {
      webhook = null;
      return true;
    },
    sendMessage: (params) => {
      const chatId = writable(chats, params['chat_id']);
      // "General" is no thread for this method.
      if (params['message_thread_id'] === 1) throw new Refusal(400, 'Bad Request: message thread not found');
      const html = params['text'];
      if (typeof html !== 'string' || html === '') throw new Refusal(400, 'Bad Request: message text is empty');
      const text = params['parse_mode'] === 'HTML' ? parsed(html) : html;
      if (text.trim() === '') throw new Refusal(400, 'Bad Request: message text is empty');
      if (text.length > 4_096) throw new Refusal(400, 'Bad Request: message is too long');
      const keyboard = params['reply_markup'];
      if (keyboard !== undefined) judgeKeyboard(keyboard);
      const message: SentMessage = { chatId, messageId: (lastMessage += 1), html, text, keyboard };
      sent.push(message);
      return { message_id: message.messageId, chat: { id: chatId }, text };
    },
    answerCallbackQuery: (params) => {
      const id = String(params['callback_query_id']);
      if (!queries.delete(id)) {
        throw new Refusal(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid');
      }
      const { text = '' } = params;
      if (typeof text !== 'string') throw new Refusal(400, 'Bad Request: text must be a string');
      if (text.length > 200) throw new Refusal(400, 'Bad Request: MESSAGE_TOO_LONG');
      answered.set(id, text);
      return true;
    },
    editMessageReplyMarkup: (params) => {
      const message = sent.find((each) => each.chatId === params['chat_id'] && each.messageId === params['message_id']);
      if (message === undefined) throw new Refusal(400, 'Bad Request: message to edit not found');
      const keyboard = params['reply_markup'];
      judgeKeyboard(keyboard);
      if (JSON.stringify(keyboard) === JSON.stringify(message.keyboard)) {
        throw new Refusal(400, 'Bad Request: message is not modified');
      }
      message.keyboard = keyboard;
      return { message_id: message.messageId };
    },
    leaveChat: (params) => {
      const chatId = Number(params['chat_id']);
      if (!chats.delete(chatId)) throw new Refusal(403, 'Forbidden: bot is not a member of the supergroup chat');
      left.push(chatId);
      return true;
    },
  };

  const confirmAndRead = (params: Fields): Fields[] => {
    const offset = params['offset'];
    if (typeof offset === 'number') updates = updates.filter((update) => update.update_id >= offset);
    return updates.slice(0, Number(params['limit'] ?? 100));
  };
  const getUpdates = (params: Fields, response: ServerResponse): void => {
    if (webhook !== null) {
      throw new Refusal(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    }
    if (Array.isArray(params['allowed_updates'])) allowed = params['allowed_updates'] as string[];
    pending?.conflict();
    const found = confirmAndRead(params);
    if (found.length > 0 || Number(params['timeout'] ?? 0) === 0) {
      answer(response, 200, { ok: true, result: found });
      return;
    }
    const end = (status: number, body: Fields) => {
      clearTimeout(timer);
      pending = undefined;
      answer(response, status, body);
    };
    const timer = setTimeout(() => end(200, { ok: true, result: [] }), Number(params['timeout']) * 1_000);
    pending = {
      answer: () => end(200, { ok: true, result: confirmAndRead(params) }),
      conflict: () =>
        end(409, {
          ok: false,
          error_code: 409,
          description:
            'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
        }),
    };
    response.on('close', () => {
      clearTimeout(timer);
      if (!response.writableEnded) pending = undefined;
    });
  };

  const server = createServer((request, response) => {
    const reply = async (): Promise<void> => {
      const body = await json(request);
      const found = /^\/bot([^/]+)\/([A-Za-z]+)$/.exec(request.url ?? '');
      if (found?.[1] !== token) throw new Refusal(401, 'Unauthorized');
      const method = found[2] ?? '';
      const params = body as Fields;
      calls.push({ method, params });
      if (api.fail !== undefined) {
        const { status, retryAfterSeconds } = api.fail;
        throw new Refusal(
          status,
          retryAfterSeconds === undefined
            ? 'Internal Server Error'
            : `Too Many Requests: retry after ${retryAfterSeconds}`,
          retryAfterSeconds === undefined ? undefined : { retry_after: retryAfterSeconds },
        );
      }
      if (method === 'getUpdates') {
        getUpdates(params, response);
        return;
      }
      const handler = handlers[method];
      if (handler === undefined) throw new Refusal(404, 'Not Found: method not found');
      answer(response, 200, { ok: true, result: handler(params) });
    };
    void reply().catch((error: unknown) => {
      const refusal = error instanceof Refusal ? error : new Refusal(400, `Bad Request: ${String(error)}`);
      const { status, message: description, parameters } = refusal;
      answer(response, status, {
        ok: false,
        error_code: status,
        description,
        ...(parameters === undefined ? {} : { parameters }),
      });
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  const tell: TestBotApi['tell'] = (update) => {
    const told = { update_id: (lastUpdate += 1), ...update };
    const kind = Object.keys(update)[0] ?? '';
    if (allowed === null || allowed.includes(kind)) updates.push(told);
    pending?.answer();
    return told;
  };
  const chatOf = (chatId: number): Fields => {
    const type = chats.get(chatId)?.type ?? (chatId > 0 ? 'private' : 'supergroup');
    return { id: chatId, type, ...(type === 'private' ? { first_name: 'Ada' } : { title: `Group ${chatId}` }) };
  };
  const api: TestBotApi = {
    baseUrl: `http://127.0.0.1:${port}`,
    token,
    botId,
    username: 'parallax_test_bot',
    chats,
    sent,
    answered,
    left,
    calls,
    webhook: () => webhook,
    tell,
    write: (chatId, from, text) =>
      tell({
        message: {
          message_id: (lastMessage += 1),
          date: Math.floor(Date.now() / 1_000),
          chat: chatOf(chatId),
          from,
          text,
        },
      }),
    press: (message, from, data) => {
      const id = `query${lastUpdate + 1}`;
      queries.add(id);
      tell({
        callback_query: {
          id,
          from,
          data,
          chat_instance: '1',
          message: { message_id: message.messageId, date: 1, chat: chatOf(message.chatId) },
        },
      });
      return id;
    },
    waiting: () => updates.length,
    confirm: () => {
      updates = [];
    },
    fail: undefined,
  };
  return api;
}

function answer(response: ServerResponse, status: number, body: Fields): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function parsed(html: string): string {
  try {
    return parseHtmlStyle(html);
  } catch (error) {
    throw new Refusal(400, `Bad Request: can't parse entities: ${(error as Error).message}`);
  }
}

/** The number of a chat that the bot may write to. */
function writable(chats: TestBotApi['chats'], given: unknown): number {
  const chatId = Number(given);
  const chat = chats.get(chatId);
  if (chat === undefined) throw new Refusal(400, 'Bad Request: chat not found');
  const { trouble } = chat;
  if (trouble === 'kicked') throw new Refusal(403, 'Forbidden: bot was kicked from the supergroup chat');
  if (trouble === 'blocked') throw new Refusal(403, 'Forbidden: bot was blocked by the user');
  if (trouble === undefined) return chatId;
  if ('movedTo' in trouble) {
    throw new Refusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: trouble.movedTo,
    });
  }
  const { retryAfterSeconds } = trouble;
  throw new Refusal(429, `Too Many Requests: retry after ${retryAfterSeconds}`, { retry_after: retryAfterSeconds });
}

function judgeKeyboard(given: unknown): void {
  const rows = (given as { inline_keyboard?: unknown } | undefined)?.inline_keyboard;
  if (!Array.isArray(rows)) throw new Refusal(400, 'Bad Request: object expected as reply markup');
  for (const button of rows.flat() as Fields[]) {
    const { text, callback_data: data } = button;
    if (typeof text !== 'string' || text === '') throw new Refusal(400, 'Bad Request: button text is empty');
    const bytes = Buffer.byteLength(typeof data === 'string' ? data : '');
    if (bytes < 1 || bytes > 64) throw new Refusal(400, 'Bad Request: BUTTON_DATA_INVALID');
  }
}
