import {
  ber,
  BerError,
  berInteger,
  berPart,
  berParts,
  berTags,
  type BerValue,
  readBerInteger,
  takeBer,
} from '../net/ber.ts';
import { readPdu, type SnmpPdu } from './pdu.ts';
import { decrypt, encrypt, type Engine, isGenuine, messageCode, type UserKeys } from './user-security.ts';

/** Largest message that is taken: what UDP can carry over IPv4. RFC 3417. */
const maxMessage = 65_507;
const userSecurity = 3;

const flagBits = { auth: 1, priv: 2, reportable: 4 } as const;

/** A message of version 1 (number 0) or 2c (number 1): RFC 1157 and RFC 1901. */
export function communityMessage(version: 0 | 1, community: string, pdu: Buffer): Buffer {
  return ber(berTags.sequence, berInteger(version), ber(berTags.octetString, community), pdu);
}

/** The PDU of such a message; undefined for another version. Throws `BerError`. */
export function readCommunityMessage(version: 0 | 1, bytes: Buffer): SnmpPdu | undefined {
  const parts = wholeMessage(bytes);
  if (readBerInteger(berPart(parts, 0, berTags.integer)) !== version) return undefined;
  return readPdu(parts[2]);
}

export type UserMessage = {
  readonly messageId: number;
  readonly engine: Engine;
  readonly username: string;
  readonly contextName: string;
  readonly pdu: Buffer;
  readonly keys: UserKeys | undefined;
  /** 8 octets that no other message with this key has. */
  readonly salt: Buffer;
};

/** A message of version 3 with the user-based security model: RFC 3412 and RFC 3414. */
export function userMessage(message: UserMessage): Buffer {
  const { keys, engine } = message;
  const scoped = ber(
    berTags.sequence,
    ber(berTags.octetString, engine.id),
    ber(berTags.octetString, message.contextName),
    message.pdu,
  );
  const data =
    keys?.priv === undefined ? scoped : ber(berTags.octetString, encrypt(scoped, keys.priv, engine, message.salt));
  if (keys === undefined) return assemble(message, Buffer.alloc(0), data);
  const blank = Buffer.alloc(keys.digest.macBytes);
  return assemble(message, messageCode(assemble(message, blank, data), keys), data);
}

function assemble(message: UserMessage, code: Buffer, data: Buffer): Buffer {
  const { keys, engine } = message;
  const flags =
    flagBits.reportable | (keys === undefined ? 0 : flagBits.auth) | (keys?.priv === undefined ? 0 : flagBits.priv);
  const security = ber(
    berTags.sequence,
    ber(berTags.octetString, engine.id),
    berInteger(engine.boots),
    berInteger(engine.timeSeconds),
    ber(berTags.octetString, message.username),
    ber(berTags.octetString, code),
    ber(berTags.octetString, keys?.priv === undefined ? Buffer.alloc(0) : message.salt),
  );
  return ber(
    berTags.sequence,
    berInteger(3),
    ber(
      berTags.sequence,
      berInteger(message.messageId),
      berInteger(maxMessage),
      ber(berTags.octetString, Buffer.from([flags])),
      berInteger(userSecurity),
    ),
    ber(berTags.octetString, security),
    data,
  );
}

export type UserReply = {
  readonly messageId: number;
  readonly engine: Engine;
  /** The message carries a right code under the keys. */
  readonly genuine: boolean;
  readonly encrypted: boolean;
  readonly pdu: SnmpPdu;
};

/** Reads a message of version 3; what is encrypted needs the keys. Throws `BerError`, also for what cannot be decrypted. */
export function readUserMessage(bytes: Buffer, keys: UserKeys | undefined): UserReply {
  const parts = wholeMessage(bytes);
  if (readBerInteger(berPart(parts, 0, berTags.integer)) !== 3) throw new BerError('another version');
  const header = berParts(berPart(parts, 1, berTags.sequence));
  const messageId = readBerInteger(berPart(header, 0, berTags.integer));
  const flags = berPart(header, 2, berTags.octetString)[0] ?? 0;
  if (readBerInteger(berPart(header, 3, berTags.integer)) !== userSecurity)
    throw new BerError('another security model');
  const outer = takeBer(berPart(parts, 2, berTags.octetString));
  if (outer?.value.tag !== berTags.sequence) throw new BerError('no security parameters');
  const security = berParts(outer.value.content);
  const engine = {
    id: Buffer.from(berPart(security, 0, berTags.octetString)),
    boots: readCount(security, 1),
    timeSeconds: readCount(security, 2),
  };
  if (engine.id.length > 32) throw new BerError('an engine with a name that is too long');
  const code = berPart(security, 4, berTags.octetString);
  const encrypted = (flags & flagBits.priv) !== 0;
  const genuine = keys !== undefined && (flags & flagBits.auth) !== 0 && isGenuine(bytes, code, keys);
  const scoped = encrypted ? opened(parts[3], keys, engine, berPart(security, 5, berTags.octetString)) : parts[3];
  if (scoped?.tag !== berTags.sequence) throw new BerError('no scoped PDU');
  return { messageId, engine, genuine, encrypted, pdu: readPdu(berParts(scoped.content)[2]) };
}

function opened(data: BerValue | undefined, keys: UserKeys | undefined, engine: Engine, salt: Buffer): BerValue {
  if (keys?.priv === undefined || data?.tag !== berTags.octetString || salt.length !== 8)
    throw new BerError('a message that cannot be decrypted');
  const taken = takeBer(decrypt(data.content, keys.priv, engine, salt));
  if (taken === undefined) throw new BerError('a message that cannot be decrypted');
  return taken.value;
}

function readCount(security: readonly BerValue[], at: number): number {
  const count = readBerInteger(berPart(security, at, berTags.integer));
  if (count < 0 || count > 0x7fff_ffff) throw new BerError('a count that is not one');
  return count;
}

function wholeMessage(bytes: Buffer): BerValue[] {
  const taken = takeBer(bytes);
  if (taken?.value.tag !== berTags.sequence) throw new BerError('no message of SNMP');
  return berParts(taken.value.content);
}
