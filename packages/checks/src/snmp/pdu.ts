import {
  ber,
  BerError,
  berInteger,
  berOid,
  berPart,
  berParts,
  berTags,
  type BerValue,
  readBerInteger,
  readBerOid,
  readBerUnsigned,
} from '../net/ber.ts';

/** Kinds of PDU that a get exchanges. RFC 3416. */
export const pduTags = { get: 0xa0, response: 0xa2, report: 0xa8 } as const;

/** A value as it is shown and compared; `missing` names why there is none. */
export type SnmpValue = { readonly kind: string; readonly text: string } | { readonly missing: string };

export type SnmpPdu = {
  readonly tag: number;
  readonly requestId: number;
  readonly errorStatus: number;
  readonly oid: string;
  readonly value: SnmpValue;
};

/** A get of one object. */
export function getPdu(requestId: number, oid: string | undefined): Buffer {
  const bindings = oid === undefined ? [] : [ber(berTags.sequence, berOid(oid), ber(berTags.null))];
  const list = ber(berTags.sequence, ...bindings);
  return ber(pduTags.get, berInteger(requestId), berInteger(0), berInteger(0), list);
}

/** Reads a response or a report with its first binding. Throws `BerError`. */
export function readPdu(pdu: BerValue | undefined): SnmpPdu {
  if (pdu === undefined || (pdu.tag !== pduTags.response && pdu.tag !== pduTags.report))
    throw new BerError('no response of SNMP');
  const parts = berParts(pdu.content);
  const requestId = readBerInteger(berPart(parts, 0, berTags.integer));
  const errorStatus = readBerInteger(berPart(parts, 1, berTags.integer));
  const first = berParts(berPart(parts, 3, berTags.sequence))[0];
  if (first === undefined) return { tag: pdu.tag, requestId, errorStatus, oid: '', value: { missing: 'nothing' } };
  if (first.tag !== berTags.sequence) throw new BerError('no binding');
  const binding = berParts(first.content);
  const oid = readBerOid(berPart(binding, 0, berTags.oid));
  return { tag: pdu.tag, requestId, errorStatus, oid, value: readValue(binding[1]) };
}

function readValue(value: BerValue | undefined): SnmpValue {
  if (value === undefined) throw new BerError('a binding without a value');
  const { content } = value;
  switch (value.tag) {
    case berTags.integer:
      return { kind: 'Integer32', text: String(readBerInteger(content)) };
    case berTags.octetString:
      return { kind: 'OCTET STRING', text: octets(content) };
    case berTags.oid:
      return { kind: 'OBJECT IDENTIFIER', text: readBerOid(content) };
    case 0x40:
      return { kind: 'IpAddress', text: [...content.subarray(0, 4)].join('.') };
    case 0x41:
      return { kind: 'Counter32', text: String(readBerUnsigned(content)) };
    case 0x42:
      return { kind: 'Gauge32', text: String(readBerUnsigned(content)) };
    case 0x43:
      return { kind: 'TimeTicks', text: String(readBerUnsigned(content)) };
    case 0x44:
      return { kind: 'Opaque', text: opaque(content) };
    case 0x46:
      return { kind: 'Counter64', text: String(readBerUnsigned(content)) };
    case berTags.null:
      return { missing: 'null' };
    case 0x80:
      return { missing: 'noSuchObject' };
    case 0x81:
      return { missing: 'noSuchInstance' };
    case 0x82:
      return { missing: 'endOfMibView' };
    default:
      throw new BerError('a value of an unknown kind');
  }
}

/** The floating point numbers that net-snmp wraps (its load averages), else hexadecimal digits. */
function opaque(content: Buffer): string {
  const head = content.toString('hex', 0, 3);
  if (head === '9f7804' && content.length === 7) return String(Number(content.readFloatBE(3).toPrecision(7)));
  if (head === '9f7908' && content.length === 11) return String(content.readDoubleBE(3));
  return content.toString('hex');
}

/** Text where it is text, else hexadecimal digits. Printers and others send the NUL at the end of a C string along. */
function octets(content: Buffer): string {
  const isEnded = content.length > 1 && content.at(-1) === 0;
  const text = content.toString('utf8', 0, content.length - (isEnded ? 1 : 0));
  // oxlint-disable-next-line no-control-regex -- what has control characters is not text
  return /[\0-\x08\x0e-\x1f\ufffd]/.test(text) ? content.toString('hex') : text;
}

const errorNames = ['noError', 'tooBig', 'noSuchName', 'badValue', 'readOnly', 'genErr', 'noAccess'];

/** An error status for a person: RFC 3416, section 3. */
export function errorName(status: number): string {
  return errorNames[status] ?? (status === 16 ? 'authorizationError' : `error ${status}`);
}
