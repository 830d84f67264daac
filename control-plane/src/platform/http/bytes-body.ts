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

function takeBeginning(scope: FastifyInstance, limits: Beginning): void {
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const given = await readBeginning(payload, limits);
    if (given.isUnread) unread.add(request);
    return given.bytes.length === 0 ? undefined : ({ bytes: given.bytes, isCut: given.isCut } satisfies GivenBytes);
  });
  scope.addHook('onSend', async (request: FastifyRequest, reply: FastifyReply) => {
    if (unread.has(request)) void reply.header('connection', 'close');
  });
}

/** @throws when the client goes away in the middle */
function readBeginning(
  payload: Readable,
  { keptBytes, readBytes }: Beginning,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean; readonly isUnread: boolean }> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let kept = 0;
    let read = 0;
    const finish = (isUnread: boolean): void => {
      payload.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose);
      // A late fault of the connection is nobody's any more.
      payload.on('error', () => undefined);
      resolve({ bytes: Buffer.concat(parts), isCut: read > keptBytes, isUnread });
    };
    const onData = (chunk: Buffer): void => {
      read += chunk.length;
      if (kept < keptBytes) {
        // Copied, so that a small part does not hold a large chunk.
        const part = Buffer.from(chunk.subarray(0, keptBytes - kept));
        parts.push(part);
        kept += part.length;
      }
      if (read < readBytes) return;
      payload.pause();
      finish(true);
    };
    const onEnd = (): void => finish(false);
    const onClose = (): void => reject(new Error('the client went away before its body was whole'));
    payload.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}
