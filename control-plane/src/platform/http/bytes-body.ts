import type { Readable } from 'node:stream';
import type { BytesBody } from '@parallax/api-contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A body or its beginning, whatever it is. */
export type GivenBytes = {
  readonly bytes: Buffer;
  /** There was more. */
  readonly isCut: boolean;
};

/** Bodies of which no more is read than is wanted: their connections are closed behind the answer. */
const unread = new WeakSet<FastifyRequest>();

/**
 * Lets the routes of a scope of the framework take bytes of any type and encoding in place of JSON, as they came; handlers get `GivenBytes`, or
 * undefined for no body at all.
 */
export function takeBytes(scope: FastifyInstance, limits: BytesBody): void {
  scope.removeAllContentTypeParsers();
  if ('maxBytes' in limits) takeWhole(scope, limits.maxBytes);
  else takeBeginning(scope, limits);
}

function takeWhole(scope: FastifyInstance, maxBytes: number): void {
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: maxBytes },
    async (_request: FastifyRequest, bytes: Buffer) =>
      bytes.length === 0 ? undefined : ({ bytes, isCut: false } satisfies GivenBytes),
  );
}

/** How much of a body is read where only its beginning is wanted. */
type Beginning = Exclude<BytesBody, { maxBytes: number }>;

/** What long bodies may hold of a process's memory together, beyond what each is certain of: senders that are slow on purpose would fill it otherwise. */
const heldAtMost = 32 * 1_048_576;
let heldBytes = 0;

/** What a body holds of the common memory, until its answer is sent. */
class Hold {
  #bytes = 0;

  /** @returns false when there is no room, and then what was held is given back */
  take(bytes: number): boolean {
    if (heldBytes + bytes > heldAtMost) {
      this.release();
      return false;
    }
    heldBytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  release(): void {
    heldBytes -= this.#bytes;
    this.#bytes = 0;
  }
}

const holds = new WeakMap<FastifyRequest, Hold>();

function takeBeginning(scope: FastifyInstance, limits: Beginning): void {
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const hold = new Hold();
    holds.set(request, hold);
    const given = await readBeginning(payload, limits, hold);
    if (given.isUnread) unread.add(request);
    return given.bytes.length === 0 ? undefined : ({ bytes: given.bytes, isCut: given.isCut } satisfies GivenBytes);
  });
  scope.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply) => {
    if (unread.has(request)) void reply.header('connection', 'close');
  });
  // Also called for a client that went away.
  scope.addHook('onResponse', async (request: FastifyRequest) => holds.get(request)?.release());
}

/** @throws when the client goes away in the middle */
function readBeginning(
  payload: Readable,
  { keptBytes, certainBytes = keptBytes, readBytes }: Beginning,
  hold: Hold,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean; readonly isUnread: boolean }> {
  return new Promise((resolve, reject) => {
    let parts: Buffer[] = [];
    let kept = 0;
    let read = 0;
    let most = keptBytes;
    const finish = (isUnread: boolean): void => {
      payload.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose);
      // A late fault of the connection is nobody's any more.
      payload.on('error', () => undefined);
      resolve({ bytes: Buffer.concat(parts), isCut: read > most, isUnread });
    };
    const keep = (chunk: Buffer): void => {
      const bytes = Math.min(chunk.length, most - kept);
      const beyond = kept + bytes - Math.max(kept, certainBytes);
      if (beyond > 0 && !hold.take(beyond)) {
        most = certainBytes;
        const known = Buffer.concat([...parts, chunk]);
        parts = [Buffer.from(known.subarray(0, most))];
        kept = most;
        return;
      }
      // Copied, so that a small part does not hold a large chunk.
      parts.push(Buffer.from(chunk.subarray(0, bytes)));
      kept += bytes;
    };
    const onData = (chunk: Buffer): void => {
      read += chunk.length;
      if (kept < most) keep(chunk);
      if (read < readBytes) return;
      payload.pause();
      finish(true);
    };
    const onEnd = (): void => finish(false);
    const onClose = (): void => reject(new Error('the client went away before its body was whole'));
    payload.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}
