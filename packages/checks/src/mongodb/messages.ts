import { maxMessageBytes } from '../data/settings.ts';
import { type Failure, failed } from '../net/failure.ts';
import type { Taken } from '../net/talk.ts';
import { type BsonDocument, BsonError, readDocument, writeDocument } from './bson.ts';

/** OP_MSG of the MongoDB wire protocol: a header of four numbers, flags, and one section with one document. */
const opMsg = 2013;
const headBytes = 16;
const checksumPresent = 1;

export function writeMessage(requestId: number, document: BsonDocument): Buffer {
  const body = writeDocument(document);
  const head = Buffer.alloc(headBytes + 5);
  head.writeInt32LE(head.length + body.length, 0);
  head.writeInt32LE(requestId, 4);
  head.writeInt32LE(opMsg, 12);
  return Buffer.concat([head, body]);
}

/** Cuts out the answer to a request. Compression and answers of several parts were not agreed on, so there are none. */
export function readAnswer(requestId: number): (received: Buffer) => Taken<BsonDocument> {
  return (received) => {
    if (received.length < headBytes) return { need: headBytes };
    const length = received.readInt32LE(0);
    if (received.readInt32LE(8) !== requestId || received.readInt32LE(12) !== opMsg || length < headBytes + 10)
      return { failure: foreign() };
    if (length > maxMessageBytes)
      return { failure: failed('db_result_too_large', `The answer has ${length} bytes, more than a check reads.`) };
    if (received.length < length) return { need: length };
    const withChecksum = (received.readUInt32LE(headBytes) & checksumPresent) !== 0;
    if (received[headBytes + 4] !== 0) return { failure: foreign() };
    try {
      const body = received.subarray(headBytes + 5, length - (withChecksum ? 4 : 0));
      return { value: readDocument(body), used: length };
    } catch (error) {
      if (error instanceof BsonError) return { failure: foreign() };
      throw error;
    }
  };
}

export function foreign(): Failure {
  return failed('db_protocol', 'The server does not speak the protocol of MongoDB.');
}
