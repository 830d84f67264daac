import { Problem } from '@parallax/api-contract';
import type { InputErrorCode, ProblemCode } from '@parallax/api-contract';

/** What is known of the request that a key was first used for. */
export type KnownRequest = {
  readonly isSame: boolean;
  /** The workspaces that its sender could see. */
  readonly workspaceIds: readonly number[];
  /** Something of it was committed. */
  readonly isDone: boolean;
  readonly hasAnswer: boolean;
};

/**
 * Whether the answer of the first request may be repeated.
 * @param visible the workspaces that the present sender sees
 * @throws Problem `idempotency_key_reused` for another request, or from whom the answer may not be shown; `idempotency_key_in_use` while the
 * first is under way; `conflict` when it was done by a process that ended before it could keep the answer
 */
export function requireAnswer(known: KnownRequest, visible: ReadonlyMap<number, unknown>): void {
  if (!known.isSame) {
    throw aboutKey(
      'idempotency_key_reused',
      'another request was sent under this Idempotency-Key; use a new key for each request',
    );
  }
  if (!known.workspaceIds.every((id) => visible.has(id))) {
    throw aboutKey(
      'idempotency_key_reused',
      'this Idempotency-Key was used with access to more workspaces than these credentials have; use a new key',
    );
  }
  if (known.hasAnswer) return;
  if (known.isDone) {
    throw aboutKey(
      'conflict',
      'the request was carried out, but its answer is lost; look for what it has made, and use a new key to make another',
    );
  }
  throw aboutKey(
    'idempotency_key_in_use',
    'the same request is under way; send it again in a second for its answer',
    1,
  );
}

export function aboutKey(code: ProblemCode & InputErrorCode, message: string, retryAfterSeconds?: number): Problem {
  return new Problem(code, message, {
    errors: [{ in: 'header', path: '/Idempotency-Key', code, message }],
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
