import { createHash, timingSafeEqual } from 'node:crypto';
import { messengerUpdatesRoute, Problem } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { inScope } from '../../../platform/database/scope.ts';
import { applyRates } from '../../../platform/http/apply-rates.ts';
import { clientNetwork } from '../../../platform/http/client-address.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { RequestFacts, Route } from '../../../platform/http/handler.ts';
import { countOnce } from '../../../platform/http/rate-limits.ts';
import { botOf } from '../bot-of.ts';
import { botIdOf, webhookSecrets } from '../bot.ts';
import { readUpdate } from './incoming.ts';
import { keepUpdates } from './queries.ts';

const nobody = { userId: null, workspaceIds: [] };

/** Where the messenger delivers updates. They are kept before the answer and acted upon behind it. */
export function updateRoutes(context: Context): Route[] {
  return [
    handle(messengerUpdatesRoute, async ({ params, bytes, request }) => {
      const bot = botOf(context);
      if (bot === null) throw refused();
      const secrets = webhookSecrets(bot);
      const isAddress = isSame(params.secret, secrets.path);
      const isHeader = isSame(request.header('x-telegram-bot-api-secret-token') ?? '', secrets.header);
      if (!(isAddress && isHeader)) {
        await limitRefused(context, request);
        throw refused();
      }
      const update = readUpdate(jsonOf(bytes?.bytes));
      // What is not understood would be sent again and again if it were refused.
      if (update === null || update.incoming === null) return {};
      await inScope(context.database.api, nobody, (tx) => keepUpdates(tx, botIdOf(bot), [update], context.now()));
      return {};
    }),
  ];
}

/** Compares without telling by the time how much of it was right. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function jsonOf(bytes: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(bytes ?? []).toString('utf8'));
  } catch {
    return undefined;
  }
}

function refused(): Problem {
  return new Problem('not_found', 'no messenger delivers here');
}

async function limitRefused(context: Context, request: RequestFacts): Promise<void> {
  const key = `messenger-refused:${clientNetwork(request.remoteAddress)}`;
  const state = await countOnce(context.database.api, key, context.limits.rate('messenger_refused'));
  applyRates(request.reply, [state], 'refused deliveries', 'from this address');
}
