/** The messenger did not do what was asked. */
export class BotApiError extends Error {
  override readonly name = 'BotApiError';
  /** Absent when there was no answer. */
  readonly status: number | undefined;
  /** How long it asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** The number that a group has now. */
  readonly movedTo: number | undefined;
  readonly description: string;

  constructor(
    method: string,
    facts: {
      readonly status: number | undefined;
      readonly description: string;
      readonly retryAfterMs?: number | undefined;
      readonly movedTo?: number | undefined;
    },
  ) {
    super(`${method}: ${facts.description}`);
    this.status = facts.status;
    this.description = facts.description;
    this.retryAfterMs = facts.retryAfterMs;
    this.movedTo = facts.movedTo;
  }

  /** Whether the same may succeed later. */
  get isPassing(): boolean {
    return this.status === undefined || this.status === 429 || this.status >= 500;
  }

  /** Whether the bot may write to the chat no more: it was removed or blocked, or there is no such chat. */
  get isChatGone(): boolean {
    return this.status === 403 || (this.status === 400 && /chat not found|peer_id_invalid/i.test(this.description));
  }
}
