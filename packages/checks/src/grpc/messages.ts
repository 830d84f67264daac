/** What a service says of itself (grpc.health.v1). */
export const healthStates = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;
export type HealthState = (typeof healthStates)[number];

/** Names of the status codes of gRPC, by their numbers. */
const statusNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export function statusName(status: number): string {
  return statusNames[status] ?? `status ${status}`;
}

/** A HealthCheckRequest behind the five bytes that frame each message of gRPC. At most 16,383 bytes of service name. */
export function healthRequest(service: string): Buffer {
  const name = Buffer.from(service, 'utf8');
  const length = name.length < 128 ? [name.length] : [(name.length & 0x7f) | 0x80, name.length >> 7];
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, ...length]), name]);
  const frame = Buffer.alloc(5);
  frame.writeUInt32BE(message.length, 1);
  return Buffer.concat([frame, message]);
}

/** The state in a framed HealthCheckResponse, or what is wrong with it in a sentence. Unknown fields are passed over. */
export function healthAnswer(body: Buffer): { readonly state: HealthState } | { readonly problem: string } {
  if (body.length < 5) return { problem: 'The answer holds no message.' };
  if (body[0] !== 0) return { problem: 'The answer is compressed although nothing was agreed on.' };
  const length = body.readUInt32BE(1);
  if (length !== body.length - 5) return { problem: 'The answer is not one whole message.' };
  const read = statusField(body.subarray(5));
  if (read === undefined) return { problem: 'The answer is not a health message.' };
  return { state: healthStates[read] ?? 'UNKNOWN' };
}

/** Field 1 of a message as a number, 0 when it is not there; undefined when the message is broken. */
function statusField(message: Buffer): number | undefined {
  let at = 0;
  let status = 0;
  const varint = (): number | undefined => {
    let value = 0;
    for (let bytes = 0; bytes < 10; bytes += 1) {
      const byte = message[at++];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** (7 * bytes);
      if (byte < 0x80) return value;
    }
    return undefined;
  };
  while (at < message.length) {
    const tag = varint();
    if (tag === undefined || tag < 8) return undefined;
    const kind = tag % 8;
    if (kind === 0) {
      const value = varint();
      if (value === undefined) return undefined;
      if (tag === 8) status = value;
    } else {
      const length = kind === 1 ? 8 : kind === 5 ? 4 : kind === 2 ? varint() : undefined;
      if (length === undefined || at + length > message.length) return undefined;
      at += length;
    }
  }
  return status;
}
