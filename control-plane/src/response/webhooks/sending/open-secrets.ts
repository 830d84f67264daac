import type { Sealer } from '../../../platform/crypto/seal.ts';
import { openSecrets } from '../seal.ts';
import type { WebhookSecrets } from '../seal.ts';

/** So long the secrets of a webhook stay opened that nothing is sent to. */
const unusedMs = 10_000;

type Opened = { readonly sealed: Buffer; readonly secrets: WebhookSecrets; usedMs: number };

/** The secrets of webhooks that are being sent to, opened once as long as they stay what they are. */
export class OpenedSecrets {
  readonly #sealer: Sealer;
  readonly #opened = new Map<number, Opened>();
  #sweptMs = 0;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** @throws SealError */
  of(webhookId: number, sealed: Buffer): WebhookSecrets {
    const known = this.#opened.get(webhookId);
    const nowMs = performance.now();
    if (known?.sealed.equals(sealed) === true) {
      known.usedMs = nowMs;
      return known.secrets;
    }
    const secrets = openSecrets(this.#sealer, webhookId, sealed);
    this.#opened.set(webhookId, { sealed, secrets, usedMs: nowMs });
    return secrets;
  }

  /** Forgets those that were not used of late; to be called now and then. */
  sweep(): void {
    const nowMs = performance.now();
    if (nowMs - this.#sweptMs < unusedMs / 10) return;
    this.#sweptMs = nowMs;
    for (const [id, { usedMs }] of this.#opened) if (nowMs - usedMs >= unusedMs) this.#opened.delete(id);
  }
}
