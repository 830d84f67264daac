import type { Address, Said } from '../signals/address.ts';
import type { ReadBody } from '../signals/body.ts';
import type { Signal } from '../signals/signal.ts';

/** A signal on its way into the database. */
export type Offer = {
  readonly address: Address;
  readonly said: Said;
  /** SHA-256 of what came in X-Secret; undefined where the address needs no secret for this signal. */
  readonly secretHash: Buffer | undefined;
  readonly rid: string | null;
  readonly isRidWrong: boolean;
  readonly method: Signal['method'];
  readonly atMs: number;
  readonly remoteAddress: string;
  readonly body: ReadBody;
};

/** What became of it. */
export type Outcome =
  | { readonly kind: 'taken' }
  /** No heartbeat has this address, or the secret is not its: nobody is told which. The workspace where the ping key is one. */
  | { readonly kind: 'unknown'; readonly workspaceId: number | null; readonly isThere: boolean }
  /** More signals in this minute than a heartbeat takes. */
  | { readonly kind: 'limited'; readonly resetSeconds: number };

/** Where an address leads. */
export type Found = {
  readonly workspaceId: number | null;
  readonly heartbeatId: number | null;
  readonly secretHash: Buffer | null;
  readonly requireSecret: boolean;
};
