import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import { KeptConnections } from '../../../platform/outbound-http/index.ts';
import type { OutboundClient } from '../../../platform/outbound-http/index.ts';
import { attemptDelivery } from './attempt.gateway.ts';
import { claimDeliveries, leaseMs, mostOfWebhook } from './claim.queries.ts';
import type { Claimed } from './claim.queries.ts';
import { OpenedSecrets } from './open-secrets.ts';
import { mostTries, outcomeOf } from './outcome.ts';
import type { Attempt } from './outcome.ts';
import { OutcomeNotes } from './outcome-notes.ts';
import { noteDeliveries, noteWebhooks } from './outcomes.queries.ts';

/** Attempts under way in one process, and those of them to receivers whose last attempt was slow. */
const mostUnderWay = 512;
const mostSlow = 128;

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
  readonly #connections = new KeptConnections();
  readonly #secrets: OpenedSecrets;
  readonly #notes: OutcomeNotes;
  #underWay = 0;
  #slow = 0;
  readonly #ofWebhook = new Map<number, number>();
  /** Attempts that are under way, without those whose outcome waits to be noted. */
  #sending = 0;

  /** @param onRoom when outcomes were noted, so that their webhooks have room */
  constructor(context: SenderContext, onRoom: () => void = () => undefined) {
    const { pool, replica, now, log } = context;
    this.#context = context;
    this.#secrets = new OpenedSecrets(context.sealer);
    this.#notes = new OutcomeNotes({
      noteDeliveries: (done) => noteDeliveries(pool, replica, done),
      noteWebhooks: (done) => noteWebhooks(pool, done),
      isLeased: ({ attempt }) => attempt.atMs + leaseMs > now(),
      onNoted: (done) => {
        this.#underWay -= done.length;
        for (const { webhookId } of done) this.#count(webhookId, -1);
        onRoom();
      },
      onError: (error) => log.error({ err: error }, 'outcomes of webhook deliveries were not noted'),
    });
  }

  /** Begins to send what is due and has room. @returns how many it began */
  async begin(): Promise<number> {
    const { pool, replica, now } = this.#context;
    this.#secrets.sweep();
    const full = [...this.#ofWebhook].filter(([, underWay]) => underWay >= mostOfWebhook).map(([id]) => id);
    const room = {
      all: mostUnderWay - this.#underWay,
      slow: Math.max(0, mostSlow - this.#slow),
      full: new Set(full),
    };
    if (room.all <= 0) return 0;
    const claimed = await claimDeliveries(pool, replica, now(), room);
    for (const delivery of claimed) {
      this.#underWay += 1;
      this.#sending += 1;
      this.#count(delivery.webhook_id, 1);
      if (delivery.is_slow) this.#slow += 1;
      void this.#send(delivery);
    }
    return claimed.length;
  }

  #count(webhookId: number, more: number): void {
    const underWay = (this.#ofWebhook.get(webhookId) ?? 0) + more;
    if (underWay > 0) this.#ofWebhook.set(webhookId, underWay);
    else this.#ofWebhook.delete(webhookId);
  }

  /** When nothing is under way any more, and all outcomes are noted. */
  async idle(): Promise<void> {
    while (this.#sending > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#notes.all();
  }

  /** When nothing is under way any more; closes the connections that were kept. Outcomes that cannot be noted now are given up. */
  async stop(): Promise<void> {
    while (this.#sending > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await this.#notes.all(true);
    this.#connections.close();
  }

  async #send(delivery: Claimed): Promise<void> {
    const attempt = await this.#attempt(delivery);
    const outcome =
      attempt.errorCode === 'body_gone'
        ? ({ state: 'failed', isGone: false } as const)
        : outcomeOf(attempt, Math.min(delivery.tries, mostTries), Math.random());
    this.#sending -= 1;
    if (delivery.is_slow) this.#slow -= 1;
    this.#notes.add({
      id: delivery.id,
      workspaceId: delivery.workspace_id,
      webhookId: delivery.webhook_id,
      tries: delivery.tries,
      attempt,
      outcome,
    });
  }

  async #attempt(delivery: Claimed): Promise<Attempt> {
    const { client, now, timeoutMs, log } = this.#context;
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
      return await attemptDelivery(
        {
          client,
          now,
          timeoutMs,
          keep: { connections: this.#connections, name: `webhook ${delivery.webhook_id}` },
        },
        {
          eventId: delivery.event_id,
          body: delivery.body,
          secrets: this.#secrets.of(delivery.webhook_id, delivery.sealed),
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
}
