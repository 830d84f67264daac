import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Service } from '../../../capability.ts';
import type { Context } from '../../../context.ts';
import { badgesSubject, statusPagesSubject } from '../../../platform/bus/subjects.ts';
import { pageGuard } from '../../status-pages/index.ts';
import { BadgeCache } from './badge-cache.ts';
import { readBadge } from './badge-facts.gateway.ts';
import { BadgeServer } from './badge-server.ts';
import type { AskedBadge } from './badge-server.ts';

/** Memory for badges and their documents. */
const maxBytes = 32 * 1024 * 1024;

type Serving = { readonly server: BadgeServer; readonly cache: BadgeCache<AskedBadge> };

const servings = new WeakMap<Context, Serving>();

function servingOf(context: Context): Serving {
  const known = servings.get(context);
  if (known !== undefined) return known;
  const { log, now } = context;
  const cache = new BadgeCache<AskedBadge>({
    read: (asked) => readBadge(context, asked),
    onFailure: (error) => log.warn({ err: error }, 'a badge cannot be read anew; it is shown as it was'),
    sleep: (ms) => delay(ms, undefined, { ref: false }),
    now,
    maxBytes,
  });
  const serving = { cache, server: new BadgeServer(cache, now, pageGuard(context)) };
  servings.set(context, serving);
  return serving;
}

/** Badges, which are answered before any route. */
export const preparedBadges = (context: Context): BadgeServer => servingOf(context).server;

/** The key of a badge has ended, here and in all processes. */
export function endBadge(context: Context, id: number): void {
  servingOf(context).cache.forget(id);
  context.bus.hint(badgesSubject, { id });
}

const ended = z.object({ id: z.number() });

/** Follows keys that have ended, and pages that may have become private; one whose hint is lost is shown for another minute at most. */
export const endedKeys: Service<Context> = {
  name: 'ended keys of badges',
  role: 'api',
  start: async (context) => {
    const { cache } = servingOf(context);
    const listening = context.bus.listen(badgesSubject, (message) => {
      const hint = ended.safeParse(message);
      if (hint.success) cache.forget(hint.data.id);
    });
    const pages = context.bus.listen(statusPagesSubject, (message) => {
      const hint = ended.safeParse(message);
      if (hint.success) cache.forgetPage(hint.data.id);
    });
    return {
      stop: async () => {
        listening.stop();
        pages.stop();
        await cache.settle();
      },
    };
  },
};
