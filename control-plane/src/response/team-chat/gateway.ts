import { z } from 'zod';
import type { TeamChatApp } from '../channels/index.ts';
import type { OutboundClient } from '../../platform/outbound-http/index.ts';
import { OutboundError } from '../../platform/outbound-http/index.ts';
import { callbackUrl } from './team-chat.ts';

/** The team chat did not do its part. */
export class TeamChatFault extends Error {
  override readonly name = 'TeamChatFault';
  readonly kind: 'unavailable' | 'refused';

  constructor(kind: TeamChatFault['kind'], reason: string) {
    super(reason);
    this.kind = kind;
  }
}

/** A room that somebody chose. */
export type Room = { readonly name: string; readonly url: string };

const answerShape = z.object({
  ok: z.literal(true),
  team: z
    .object({ name: z.string().max(200) })
    .optional()
    .catch(undefined),
  incoming_webhook: z.object({ channel: z.string().min(1).max(200), url: z.string().max(2_000) }),
});
const refusal = z.object({ ok: z.literal(false), error: z.string().regex(/^[a-z_]{1,60}$/) });

/**
 * Exchanges what a callback brought for the webhook of the room. The access token that comes with it is not kept.
 * @param hooksUrl where incoming webhooks are: one of elsewhere is not taken
 * @throws TeamChatFault
 */
export async function exchangeCode(
  outbound: OutboundClient,
  app: TeamChatApp,
  code: string,
  where: { readonly publicUrl: string; readonly hooksUrl: string },
): Promise<Room> {
  const response = await asFault(async () =>
    outbound(
      {
        method: 'POST',
        url: `${app.url}/api/oauth.v2.access`,
        body: new URLSearchParams({
          client_id: app.clientId,
          client_secret: app.clientSecret,
          code,
          redirect_uri: callbackUrl(where.publicUrl),
        }),
      },
      { timeoutMs: 10_000 },
    ),
  );
  if (response.status === 429 || response.status >= 500)
    throw new TeamChatFault('unavailable', `status ${response.status}`);
  const answer = answerShape.safeParse(response.json);
  if (!answer.success) {
    const said = refusal.safeParse(response.json);
    throw new TeamChatFault('refused', said.success ? said.data.error : `status ${response.status} without a webhook`);
  }
  const { team, incoming_webhook: hook } = answer.data;
  const url = URL.parse(hook.url);
  if (url?.origin !== new URL(where.hooksUrl).origin) throw new TeamChatFault('refused', 'the webhook is elsewhere');
  return { name: nameOf(team?.name, hook.channel), url: url.href };
}

function nameOf(team: string | undefined, room: string): string {
  const full = team === undefined ? room : `${team} ${room}`;
  return (
    full
      .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
      .trim()
      .slice(0, 100) || 'room'
  );
}

async function asFault<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // Never the cause itself: the request holds the secret.
    if (error instanceof OutboundError) throw new TeamChatFault('unavailable', error.code);
    throw error;
  }
}
