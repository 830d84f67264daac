import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** For tests: an authenticator with one credential (Web Authentication Level 3, section 6), ES256, no attestation. */
export type Authenticator = {
  /** The answer to `PublicKeyCredentialCreationOptionsJSON`. */
  readonly register: (options: Record<string, unknown>, how?: How) => Record<string, unknown>;
  /** The answer to `PublicKeyCredentialRequestOptionsJSON`. */
  readonly answer: (options: Record<string, unknown>, how?: How) => Record<string, unknown>;
};

/** What is done otherwise than asked. */
export type How = {
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly challenge?: string;
  /** In place of the next one. */
  readonly counter?: number;
  /** Whether the user showed a PIN or a finger. */
  readonly verifiesUser?: boolean;
  readonly userHandle?: string;
  readonly signature?: Buffer;
};

const base64url = (bytes: Buffer): string => bytes.toString('base64url');
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

/** @param origin of the page that asks */
export function authenticator(origin: string): Authenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let counter = 0;
  let userHandle: string | undefined;
  const jwk = publicKey.export({ format: 'jwk' });

  const clientData = (type: string, options: Record<string, unknown>, how: How): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: how.type ?? type,
        challenge: how.challenge ?? options['challenge'],
        origin: how.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authenticatorData = (rpId: string, how: How, attested: Buffer): Buffer => {
    counter = how.counter ?? counter + 1;
    // User present, user verified, attested credential data.
    const flags = 0x01 | (how.verifiesUser === false ? 0 : 0x04) | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(how.rpId ?? rpId), Buffer.of(flags), count, attested]);
  };
  const credential = { id: base64url(id), rawId: base64url(id), type: 'public-key', clientExtensionResults: {} };

  return {
    register: (options, how = {}) => {
      userHandle = (options['user'] as { id: string }).id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const key = cbor(
        new Map<number, number | Buffer>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(jwk.x ?? '', 'base64url')],
          [-3, Buffer.from(jwk.y ?? '', 'base64url')],
        ]),
      );
      const attested = Buffer.concat([Buffer.alloc(16), length, id, key]);
      const authData = authenticatorData((options['rp'] as { id: string }).id, how, attested);
      const attestation = cbor(
        new Map<string, Cbor>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      );
      const response = {
        clientDataJSON: base64url(clientData('webauthn.create', options, how)),
        attestationObject: base64url(attestation),
        transports: ['internal'],
      };
      return { ...credential, response };
    },
    answer: (options, how = {}) => {
      const data = clientData('webauthn.get', options, how);
      const authData = authenticatorData(String(options['rpId']), how, Buffer.alloc(0));
      const signature = how.signature ?? sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      const response = {
        clientDataJSON: base64url(data),
        authenticatorData: base64url(authData),
        signature: base64url(signature),
        userHandle: how.userHandle ?? userHandle,
      };
      return { ...credential, response };
    },
  };
}

type Cbor = number | string | Buffer | Map<number, Cbor> | Map<string, Cbor>;

/** RFC 8949, as far as an authenticator needs it. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === 'string') return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.length), value]);
  const entries = [...value].flatMap(([key, item]) => [cbor(key), cbor(item)]);
  return Buffer.concat([cborHead(5, value.size), ...entries]);
}

function cborHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  if (length < 256) return Buffer.of((major << 5) | 24, length);
  return Buffer.of((major << 5) | 25, length >> 8, length & 255);
}
