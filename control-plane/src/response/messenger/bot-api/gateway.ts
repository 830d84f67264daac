import { z } from 'zod';
import type { Bot } from '../bot.ts';
import { BotApiError } from './bot-api-error.ts';

const usualBytes = 1_048_576;

const answerShape = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  error_code: z.number().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  parameters: z
    .object({
      retry_after: z.number().min(0).optional().catch(undefined),
      migrate_to_chat_id: z.number().int().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export type BotCall = {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Of the whole exchange; 10 s when absent. */
  readonly timeoutMs?: number;
  /** Longer answers are broken off; 1 MiB when absent. */
  readonly mostBytes?: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * One call of the Bot API. Its address is the operator's, the way and the method are ours: tenants name nothing of it, so it goes without the
 * address policy; time and size are bounded, and no redirect is followed. @returns its `result`, which the caller reads
 * @throws BotApiError, whose text never holds the token
 */
export async function callBot(
  bot: Bot,
  { method, params = {}, timeoutMs = 10_000, mostBytes = usualBytes, signal }: BotCall,
): Promise<unknown> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const response = await away(method, async () =>
    fetch(`${bot.baseUrl}/bot${bot.token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(params),
      redirect: 'manual',
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
    }),
  );
  const text = await away(method, async () => bodyOf(response, mostBytes));
  const answer = answerShape.safeParse(jsonOf(text));
  if (!answer.success) {
    throw new BotApiError(method, {
      status: response.status,
      description: `status ${response.status} without an answer`,
    });
  }
  const { ok, result, error_code: status = response.status, description = 'no reason given', parameters } = answer.data;
  if (ok) return result;
  throw new BotApiError(method, {
    status,
    description,
    retryAfterMs: parameters?.retry_after === undefined ? undefined : parameters.retry_after * 1_000,
    movedTo: parameters?.migrate_to_chat_id,
  });
}

/** What goes wrong on the way becomes an error without an answer. The cause stays out: it may name the address, which holds the token. */
async function away<Result>(method: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BotApiError) throw error;
    const isLate = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
    throw new BotApiError(method, { status: undefined, description: isLate ? 'no answer in time' : 'no connection' });
  }
}

async function bodyOf(response: Response, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += (part as Uint8Array).length;
    if (bytes > mostBytes) throw new RangeError('the answer does not end');
    parts.push(part as Uint8Array);
  }
  return Buffer.concat(parts);
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

const me = z.object({ id: z.number(), username: z.string().min(1).max(64), first_name: z.string().catch('') });
export type BotProfile = { readonly username: string; readonly name: string };

const keepMs = 3_600_000;
const known = new Map<string, { readonly profile: BotProfile; readonly atMs: number }>();

/**
 * What the bot is called, asked for once an hour; what is old serves on while the messenger is away.
 * @throws BotApiError
 */
export async function profileOf(bot: Bot, nowMs: number): Promise<BotProfile> {
  const key = `${bot.baseUrl} ${bot.token}`;
  const found = known.get(key);
  if (found !== undefined && nowMs - found.atMs < keepMs) return found.profile;
  try {
    const { username, first_name: name } = me.parse(await callBot(bot, { method: 'getMe', timeoutMs: 5_000 }));
    const profile = { username, name };
    known.set(key, { profile, atMs: nowMs });
    return profile;
  } catch (error) {
    if (found !== undefined) return found.profile;
    if (error instanceof BotApiError) throw error;
    throw new BotApiError('getMe', { status: undefined, description: 'the answer names no bot' });
  }
}
