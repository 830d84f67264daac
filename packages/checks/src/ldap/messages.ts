import { ber, BerError, berInteger, berPart, berParts, berTags, readBerInteger, takeBer } from '../net/ber.ts';

/** A message of a server: whose answer it is, what kind, and for the kinds that have one the result code. RFC 4511. */
export type LdapMessage = {
  readonly id: number;
  readonly kind: 'bind' | 'entry' | 'reference' | 'search_done' | 'extended' | 'other';
  readonly result: number | undefined;
};

const kinds: Readonly<Record<number, LdapMessage['kind']>> = {
  0x61: 'bind',
  0x64: 'entry',
  0x65: 'search_done',
  0x73: 'reference',
  0x78: 'extended',
};

export const searchScopes = ['base', 'one', 'subtree'] as const;
export type SearchScope = (typeof searchScopes)[number];

/** A simple bind; with an empty name and password the anonymous one. */
export function bindRequest(id: number, name: string, password: string): Buffer {
  return message(id, ber(0x60, berInteger(3), ber(berTags.octetString, name), ber(0x80, password)));
}

/** Asks for names only, no attributes ("1.1", RFC 4511 section 4.5.1.8), and never for what an alias or a referral points to. */
export function searchRequest(id: number, base: string, scope: SearchScope, filter: Buffer, sizeLimit: number): Buffer {
  return message(
    id,
    ber(
      0x63,
      ber(berTags.octetString, base),
      berInteger(searchScopes.indexOf(scope), berTags.enumerated),
      berInteger(0, berTags.enumerated),
      berInteger(sizeLimit),
      berInteger(60),
      ber(berTags.boolean, Buffer.from([0xff])),
      filter,
      ber(berTags.sequence, ber(berTags.octetString, '1.1')),
    ),
  );
}

export function unbindRequest(id: number): Buffer {
  return message(id, ber(0x42));
}

function message(id: number, operation: Buffer): Buffer {
  return ber(berTags.sequence, berInteger(id), operation);
}

/** The first message of what has come and its length; undefined while it is not there as a whole. Throws `BerError`. */
export function takeMessage(bytes: Buffer): { readonly value: LdapMessage; readonly used: number } | undefined {
  if (bytes[0] !== berTags.sequence) throw new BerError('no message of LDAP');
  const taken = takeBer(bytes);
  if (taken === undefined) return undefined;
  const parts = berParts(taken.value.content);
  const id = readBerInteger(berPart(parts, 0, berTags.integer));
  const operation = parts[1];
  if (operation === undefined) throw new BerError('a message without an operation');
  const kind = kinds[operation.tag] ?? 'other';
  const hasResult = kind === 'bind' || kind === 'search_done' || kind === 'extended';
  const result = hasResult ? readBerInteger(berPart(berParts(operation.content), 0, berTags.enumerated)) : undefined;
  return { value: { id, kind, result }, used: taken.used };
}

const resultNames: Readonly<Record<number, string>> = {
  1: 'operationsError',
  2: 'protocolError',
  3: 'timeLimitExceeded',
  4: 'sizeLimitExceeded',
  7: 'authMethodNotSupported',
  8: 'strongerAuthRequired',
  10: 'referral',
  11: 'adminLimitExceeded',
  13: 'confidentialityRequired',
  32: 'noSuchObject',
  34: 'invalidDNSyntax',
  48: 'inappropriateAuthentication',
  49: 'invalidCredentials',
  50: 'insufficientAccessRights',
  51: 'busy',
  52: 'unavailable',
  53: 'unwillingToPerform',
  80: 'other',
};

/** A result code for a person, by the name of RFC 4511 where it has one. */
export function resultName(code: number): string {
  const name = resultNames[code];
  return name === undefined ? `result ${code}` : `${name}, result ${code}`;
}
