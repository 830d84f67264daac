import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import type { OutboundClient } from '../../../platform/outbound-http/index.ts';
import { openSecrets } from '../seal.ts';
import { attemptDelivery } from './attempt.gateway.ts';
import { claimDeliveries } from './claim.queries.ts';
import type { Claimed } from './claim.queries.ts';
import { mostTries, outcomeOf } from './outcome.ts';
import type { Attempt } from './outcome.ts';
import { noteOutcomes } from './outcomes.queries.ts';
import type { Done } from './outcomes.queries.ts';

/** Attempts under way in one process, and those of them to receivers whose last attempt was slow. */
const mostUnderWay = 512;
const mostSlow = 128;
/** Outcomes are noted together. */
const noteEveryMs = 50;

export type SenderContext = {
  readonly pool: DatabasePool;
  readonly client: OutboundClient;
  readonly sealer: Sealer;
  readonly replica: string;
  readonly now: () => number;
  readonly log: Pick<Logger, 'error'>;
  readonly timeoutMs?: number | undefined;
};

/** Sends deliveries, each in its own time: a receiver that hangs holds up nobody but its own webhook. */
export class Sender {
  readonly #context: SenderContext;
  readonly #onRoom: () => void;
  #underWay = 0;
  #slow = 0;
  #done: Done[] = [];
  #noting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param onRoom when outcomes were noted, so that their webhooks have room */
  constructor(context: SenderContext, onRoom: () => void = () => undefined) {
    this.#context = context;
    this.#onRoom = onRoom;
  }

  /** Begins to send what is due and has room. @returns how many it began */
  async begin(): Promise<number> {
    const { pool, replica, now } = this.#context;
    const room = { all: mostUnderWay - this.#underWay, slow: Math.max(0, mostSlow - this.#slow) };
    if (room.all <= 0) return 0;
    const claimed = await claimDeliveries(pool, replica, now(), room);
    for (const delivery of claimed) {
      this.#underWay += 1;
      if (delivery.is_slow) this.#slow += 1;
      void this.#send(delivery);
    }
    return claimed.length;
  }

  /** When nothing is under way any more, and all outcomes are noted. */
  async idle(): Promise<void> {
    while (this.#underWay > 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (this.#done.length > 0) await this.#note();
    }
  }

  async #send(delivery: Claimed): Promise<void> {
    const attempt = await this.#attempt(delivery);
    const outcome =
      attempt.errorCode === 'body_gone'
        ? ({ state: 'failed', isGone: false } as const)
        : outcomeOf(attempt, Math.min(delivery.tries, mostTries), Math.random());
    this.#done.push({
      id: delivery.id,
      workspaceId: delivery.workspace_id,
      webhookId: delivery.webhook_id,
      tries: delivery.tries,
      attempt,
      outcome,
    });
    if (delivery.is_slow) this.#slow -= 1;
    this.#noteSoon();
  }

  async #attempt(delivery: Claimed): Promise<Attempt> {
    const { client, sealer, now, timeoutMs, log } = this.#context;
    const failed = (errorCode: string, error: string): Attempt => ({
      atMs: now(),
      durationMs: 0,
      statusCode: null,
      errorCode,
      error,
      answer: null,
      retryAfterMs: undefined,
    });
    if (delivery.body === null) return failed('body_gone', 'The event is no longer kept.');
    try {
      const secrets = openSecrets(sealer, delivery.webhook_id, delivery.sealed);
      return await attemptDelivery(
        { client, now, timeoutMs },
        {
          eventId: delivery.event_id,
          body: delivery.body,
          secrets,
          signature: delivery.signature,
          content: delivery.content,
          previousUntilMs: delivery.previous_until,
        },
      );
    } catch (error) {
      log.error({ err: error, delivery_id: delivery.id }, 'a webhook delivery could not be made');
      return failed('internal', 'The delivery could not be made; this is a defect of Parallax.');
    }
  }

  #noteSoon(): void {
    this.#timer ??= setTimeout(() => {
      // While others are noted, whoever notes them sees to these.
      this.#timer = undefined;
      void this.#note();
    }, noteEveryMs);
  }

  #note(): Promise<void> {
    this.#noting ??= this.#noteAll().finally(() => {
      this.#noting = undefined;
    });
    return this.#noting;
  }

  async #noteAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { pool, replica, log } = this.#context;
    const done = this.#done;
    this.#done = [];
    try {
      await noteOutcomes(pool, replica, done);
    } catch (error) {
      // They stay ours until their leases end, and are sent again then.
      log.error({ err: error }, 'outcomes of webhook deliveries were not noted');
    }
    this.#underWay -= done.length;
    if (this.#done.length > 0) this.#noteSoon();
    this.#onRoom();
  }
}
