import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Codes of RFC 2865 and RFC 5997 that an authentication server is asked with and answers with. */
export const radiusCodes = {
  accessRequest: 1,
  accessAccept: 2,
  accessReject: 3,
  accountingResponse: 5,
  accessChallenge: 11,
  statusServer: 12,
} as const;

const attributes = {
  userName: 1,
  userPassword: 2,
  replyMessage: 18,
  nasIdentifier: 32,
  messageAuthenticator: 80,
} as const;

const headerBytes = 20;
const authenticatorBytes = 16;
const maxPacket = 4096;

export type RadiusRequest = {
  readonly code: number;
  /** 0 to 255. */
  readonly identifier: number;
  /** 16 octets that nobody can foretell. */
  readonly authenticator: Buffer;
  readonly nasIdentifier: string;
  readonly login: { readonly username: string; readonly password: string } | undefined;
};

/**
 * A request whose first attribute is a Message-Authenticator, as servers that know of forged answers ask for. RFC 2865 section 4.1 and
 * RFC 3579 section 3.2.
 */
export function radiusRequest(request: RadiusRequest, secret: string): Buffer {
  const { code, identifier, authenticator, login } = request;
  const parts = [attribute(attributes.messageAuthenticator, Buffer.alloc(authenticatorBytes))];
  if (login !== undefined) {
    parts.push(attribute(attributes.userName, Buffer.from(login.username, 'utf8')));
    const hidden = hidePassword(Buffer.from(login.password, 'utf8'), secret, authenticator);
    parts.push(attribute(attributes.userPassword, hidden));
  }
  parts.push(attribute(attributes.nasIdentifier, Buffer.from(request.nasIdentifier, 'utf8')));
  const content = Buffer.concat(parts);
  const head = Buffer.from([code, identifier, 0, 0]);
  head.writeUInt16BE(headerBytes + content.length, 2);
  const packet = Buffer.concat([head, authenticator, content]);
  packet.set(createHmac('md5', secret).update(packet).digest(), headerBytes + 2);
  return packet;
}

/** RFC 2865, section 5.2: the password filled up to blocks of 16 octets, each under a digest of what went before. */
function hidePassword(password: Buffer, secret: string, authenticator: Buffer): Buffer {
  const padded = Buffer.alloc(Math.max(1, Math.ceil(password.length / authenticatorBytes)) * authenticatorBytes);
  password.copy(padded);
  let before = authenticator;
  for (let at = 0; at < padded.length; at += authenticatorBytes) {
    const mask = createHash('md5').update(secret).update(before).digest();
    const block = padded.subarray(at, at + authenticatorBytes);
    for (const [index, octet] of mask.entries()) block[index] = (block[index] ?? 0) ^ octet;
    before = block;
  }
  return padded;
}

function attribute(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, value.length + 2]), value]);
}

/** A random authenticator and identifier for one exchange. */
export function radiusNonce(): Pick<RadiusRequest, 'authenticator' | 'identifier'> {
  const bytes = randomBytes(authenticatorBytes + 1);
  return { authenticator: bytes.subarray(1), identifier: bytes[0] ?? 0 };
}

export type RadiusReply = {
  readonly code: number;
  /** `genuine`: made by who knows the secret; `forged`: it says the right number, but its digests are not right. */
  readonly trust: 'genuine' | 'forged';
  readonly hasMessageAuthenticator: boolean;
  readonly replyMessage: string | undefined;
};

/** Reads the answer to a request; undefined for what is none: garbage, or another number. */
export function readRadiusReply(bytes: Buffer, request: RadiusRequest, secret: string): RadiusReply | undefined {
  if (bytes.length < headerBytes || bytes.length > maxPacket || bytes[1] !== request.identifier) return undefined;
  const length = bytes.readUInt16BE(2);
  if (length < headerBytes || length > bytes.length) return undefined;
  const packet = Buffer.from(bytes.subarray(0, length));
  const code = packet[0] ?? 0;
  const digest = packet.subarray(4, headerBytes);
  const claimed = Buffer.from(digest);
  // Both digests are made with the authenticator of the request in the place of the answer's own.
  request.authenticator.copy(digest);
  const expected = createHash('md5').update(packet).update(secret).digest();
  let trust: RadiusReply['trust'] = timingSafeEqual(expected, claimed) ? 'genuine' : 'forged';
  let hasMessageAuthenticator = false;
  const messages: string[] = [];
  for (let at = headerBytes; at < length; ) {
    const size = packet[at + 1] ?? 0;
    if (size < 2 || at + size > length) return undefined;
    const value = packet.subarray(at + 2, at + size);
    if (packet[at] === attributes.replyMessage) messages.push(value.toString('utf8'));
    if (packet[at] === attributes.messageAuthenticator) {
      if (value.length !== authenticatorBytes) return undefined;
      hasMessageAuthenticator = true;
      const code = Buffer.from(value);
      value.fill(0);
      if (!timingSafeEqual(createHmac('md5', secret).update(packet).digest(), code)) trust = 'forged';
      code.copy(value);
    }
    at += size;
  }
  const replyMessage = messages.length === 0 ? undefined : messages.join(' ');
  return { code, trust, hasMessageAuthenticator, replyMessage };
}

/** The name of a code for a person. */
export function radiusCodeName(code: number): string {
  if (code === radiusCodes.accessAccept) return 'Access-Accept';
  if (code === radiusCodes.accessReject) return 'Access-Reject';
  if (code === radiusCodes.accountingResponse) return 'Accounting-Response';
  return code === radiusCodes.accessChallenge ? 'Access-Challenge' : `code ${code}`;
}
