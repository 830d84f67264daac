import type { Logger } from '@parallax/telemetry';
import type { DatabasePool } from 'slonik';
import type { Sealer } from '../../../platform/crypto/seal.ts';
import { KeptConnections } from '../../../platform/outbound-http/index.ts';
import type { OutboundClient } from '../../../platform/outbound-http/index.ts';
import { attemptDelivery } from './attempt.gateway.ts';
import { claimDeliveries, giveBack, leaseMs, mostOfWebhook, mostOfWorkspace } from './claim.queries.ts';
import type { Claimed } from './claim.queries.ts';
import { OpenedSecrets } from './open-secrets.ts';
import { mostTries, outcomeOf } from './outcome.ts';
import type { Attempt } from './outcome.ts';
import { OutcomeNotes } from './outcome-notes.ts';
import { noteDeliveries, noteWebhooks } from './outcomes.queries.ts';

/** Attempts under way in one process, an attempt being under way until its outcome is noted. */
const mostUnderWay = 512;
/** Deliveries that a process has claimed, and those of them to receivers whose last attempt was slow. */
const mostClaimed = 1_024;
const mostSlow = 128;
/** A delivery that has waited for room for so long is left to whoever claims it when its lease is over. */
const mostWaitedMs = (leaseMs * 2) / 3;

export type SenderContext = {
  readonly pool: DatabasePool;
  readonly client: OutboundClient;
  readonly sealer: Sealer;
  readonly replica: string;
  readonly now: () => number;
  readonly log: Pick<Logger, 'error'>;
  readonly timeoutMs?: number | undefined;
};

/**
 * Sends deliveries, each in its own time: a receiver that hangs holds up nobody but its own webhook. Some are claimed before there is room for them,
 * so that no claim is waited for when there is.
 */
export class Sender {
  readonly #context: SenderContext;
  readonly #connections = new KeptConnections();
  readonly #secrets: OpenedSecrets;
  readonly #notes: OutcomeNotes;
  #claimed = 0;
  #slow = 0;
  readonly #claimedOfWebhook = new Map<number, number>();
  /** How many deliveries to a webhook may be claimed, as the last claim of it said. */
  readonly #mostOfWebhook = new Map<number, number>();
  /** Claimed and not begun, by webhook; who had room last is looked at last. */
  readonly #waiting = new Map<number, Claimed[]>();
  #underWay = 0;
  readonly #ofWebhook = new Map<number, number>();
  readonly #ofWorkspace = new Map<number, number>();
  /** Attempts that are under way, without those whose outcome waits to be noted. */
  #sending = 0;
  #isStopping = false;

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
        for (const { webhookId, workspaceId } of done) {
          count(this.#ofWebhook, webhookId, -1);
          count(this.#ofWorkspace, workspaceId, -1);
          this.#release(webhookId);
        }
        this.#beginWaiting();
        onRoom();
      },
      onError: (error) => log.error({ err: error }, 'outcomes of webhook deliveries were not noted'),
    });
  }

  /** Claims what is due and has room, and begins to send it. @returns how many it claimed */
  async begin(): Promise<number> {
    const { pool, replica, now } = this.#context;
    this.#secrets.sweep();
    const full = [...this.#claimedOfWebhook]
      .filter(([id, n]) => n >= (this.#mostOfWebhook.get(id) ?? 0))
      .map(([id]) => id);
    const room = {
      all: mostClaimed - this.#claimed,
      slow: Math.max(0, mostSlow - this.#slow),
      full: new Set(full),
    };
    if (room.all <= 0) return 0;
    const claimed = await claimDeliveries(pool, replica, now(), room);
    for (const delivery of claimed) {
      const { webhook_id: id } = delivery;
      this.#claimed += 1;
      count(this.#claimedOfWebhook, id, 1);
      this.#mostOfWebhook.set(id, delivery.most);
      if (delivery.is_slow) this.#slow += 1;
      const waiting = this.#waiting.get(id);
      if (waiting === undefined) this.#waiting.set(id, [delivery]);
      else waiting.push(delivery);
    }
    this.#beginWaiting();
    return claimed.length;
  }

  /** Begins to send what was claimed and has room: one delivery to each webhook in turn. */
  #beginWaiting(): void {
    for (let began = -1; began !== 0 && !this.#isStopping; ) {
      began = 0;
      for (const [webhookId, waiting] of Array.from(this.#waiting)) {
        const [delivery] = waiting;
        if (delivery === undefined || !this.#hasRoom(delivery)) continue;
        this.#waiting.delete(webhookId);
        if (waiting.length > 1) this.#waiting.set(webhookId, waiting.slice(1));
        began += 1;
        if (this.#context.now() - delivery.claimedMs > mostWaitedMs) this.#leave(delivery);
        else this.#beginOne(delivery);
      }
    }
  }

  #hasRoom({ webhook_id: webhookId, workspace_id: workspaceId }: Claimed): boolean {
    return (
      this.#underWay < mostUnderWay &&
      (this.#ofWebhook.get(webhookId) ?? 0) < mostOfWebhook &&
      (this.#ofWorkspace.get(workspaceId) ?? 0) < mostOfWorkspace
    );
  }

  #beginOne(delivery: Claimed): void {
    this.#underWay += 1;
    this.#sending += 1;
    count(this.#ofWebhook, delivery.webhook_id, 1);
    count(this.#ofWorkspace, delivery.workspace_id, 1);
    void this.#send(delivery);
  }

  #leave(delivery: Claimed): void {
    if (delivery.is_slow) this.#slow -= 1;
    this.#release(delivery.webhook_id);
  }

  #release(webhookId: number): void {
    this.#claimed -= 1;
    count(this.#claimedOfWebhook, webhookId, -1);
    if (!this.#claimedOfWebhook.has(webhookId)) this.#mostOfWebhook.delete(webhookId);
  }

  /** When nothing is under way any more, and all outcomes are noted. */
  async idle(): Promise<void> {
    while (this.#claimed > 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (this.#sending === 0) await this.#notes.all();
    }
  }

  /**
   * When nothing is under way any more; gives back what was not begun, and closes the connections that were kept. Outcomes that cannot be noted
   * now are given up.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const { pool, replica, log } = this.#context;
    const waiting = [...this.#waiting.values()].flat().map(({ id }) => id);
    this.#waiting.clear();
    await giveBack(pool, replica, waiting).catch((error: unknown) => {
      log.error({ err: error }, 'webhook deliveries could not be given back; they are sent when their leases are over');
    });
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

function count(counts: Map<number, number>, key: number, more: number): void {
  const n = (counts.get(key) ?? 0) + more;
  if (n > 0) counts.set(key, n);
  else counts.delete(key);
}
