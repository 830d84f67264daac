import { readFileSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { problemSchema } from '@parallax/api-contract';
import { z } from 'zod';
import { AsCodeError } from './errors.ts';

/** A request may remove a monitor's results, for which the API takes up to 20 s. */
const requestMs = 60_000;
/** Waits that the API may ask for when it limits the rate; the windows of its limits are minutes. */
const longestWaitS = 90;
const mostWaits = 20;
/** The API's own bound of pages. */
const pageSize = 100;

export type Answer = { readonly status: number; readonly etag: string | undefined; readonly body: unknown };

/** The REST API as its clients see it. */
export type Client = {
  /** An API key may do less than a token: it reads monitors only. */
  readonly isKey: boolean;
  /** @throws ApiError unless the answer is a success */
  readonly send: (
    method: string,
    path: string,
    more?: {
      readonly body?: unknown;
      readonly version?: string;
      /** In place of a body. */
      readonly file?: { readonly type: string; readonly bytes: Buffer };
    },
  ) => Promise<Answer>;
  /** All items of a list. */
  readonly list: <Item extends z.ZodType>(path: string, name: string, item: Item) => Promise<readonly z.output<Item>[]>;
};

/** An answer that is no success. */
export class ApiError extends AsCodeError {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * @param url of the installation, with or without a path before `/api/v1`
 * @param token a personal access token, an access token, or an API key (`plk_…`)
 * @param pause what to do while the API asks to wait
 */
export function createClient(url: string, token: string, pause: (ms: number) => Promise<unknown> = wait): Client {
  const base = url.replace(/\/+$/, '');
  const isKey = token.startsWith('plk_');
  const credentials: Record<string, string> = isKey ? { 'x-api-key': token } : { authorization: `Bearer ${token}` };
  const send: Client['send'] = async (method, path, { body, version, file } = {}) => {
    const content =
      file ?? (body === undefined ? undefined : { type: 'application/json', bytes: JSON.stringify(body) });
    for (let waits = 0; ; waits += 1) {
      const response = await fetchOnce(`${base}/api/v1${path}`, {
        method,
        headers: {
          ...credentials,
          accept: 'application/json',
          ...(version === undefined ? {} : { 'if-match': version }),
          ...(content === undefined ? {} : { 'content-type': content.type }),
        },
        ...(content === undefined ? {} : { body: content.bytes }),
        // The token is for this place only.
        redirect: 'error',
        signal: AbortSignal.timeout(requestMs),
      });
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (response.status === 429 && waits < mostWaits && seconds <= longestWaitS) {
        await response.body?.cancel();
        await pause(Math.max(1, seconds) * 1_000);
        continue;
      }
      const text = await response.text();
      if (!response.ok) throw new ApiError(response.status, problemText(`${method} ${path}`, response.status, text));
      return { status: response.status, etag: response.headers.get('etag') ?? undefined, body: jsonOf(text) };
    }
  };
  return {
    isKey,
    send,
    list: async (path, name, item) => {
      const items: z.output<typeof item>[] = [];
      const pageSchema = z.object({ [name]: z.array(item), total: z.number() });
      for (let page = 1; ; page += 1) {
        const answer = await send('GET', `${path}${path.includes('?') ? '&' : '?'}page_size=${pageSize}&page=${page}`);
        const parsed = pageSchema.safeParse(answer.body);
        if (!parsed.success) throw new AsCodeError(`${base} answers ${path} in a way that this version does not know`);
        const { total, [name]: found } = parsed.data as unknown as { total: number } & Record<
          string,
          z.output<typeof item>[]
        >;
        items.push(...(found ?? []));
        if (items.length >= total) return items;
        if ((found ?? []).length === 0) throw new AsCodeError(`the list ${path} changed while it was read: try again`);
      }
    },
  };
}

async function fetchOnce(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new AsCodeError(`${new URL(url).origin} cannot be reached: ${why}`);
  }
}

function jsonOf(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new AsCodeError('the answer is no JSON: is this the address of Parallax?');
  }
}

function problemText(what: string, status: number, text: string): string {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {
    told = undefined;
  }
  const problem = problemSchema.safeParse(told);
  if (!problem.success) return `${what}: ${status}`;
  const { detail, errors } = problem.data;
  const fields = (errors ?? []).slice(0, 10).map((each) => `${each.path}: ${each.message}`);
  return [`${what}: ${status} ${detail}`, ...fields].join('\n    ');
}

/** @throws AsCodeError when it cannot be read or is larger than `mostBytes` */
export function readText(file: string, mostBytes: number): string {
  try {
    const { size } = statSync(file);
    if (size > mostBytes) throw new AsCodeError(`${file} has ${size} bytes, at most ${mostBytes} are taken`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    if (error instanceof AsCodeError) throw error;
    if (error instanceof TypeError) throw new AsCodeError(`${file} is not UTF-8`);
    throw new AsCodeError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
