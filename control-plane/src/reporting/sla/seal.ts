import { createHash } from 'node:crypto';

/** Files that reports are exported as. */
export type FileKind = 'csv' | 'pdf';

/** What the end of an exported file says of it, beside the signature. Times in milliseconds since the epoch. */
export type SealFields = {
  readonly kind: FileKind;
  readonly monitorId: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly generatedMs: number;
  /** Where the monitor's ledger stood; no digest while it had no entry. */
  readonly chain: number;
  readonly seq: number;
  readonly head: string | null;
  /** Which key signed: the first 16 hexadecimal digits of the SHA-256 of the public key. */
  readonly key: string;
  /** SHA-256 of all bytes before the seal, in hexadecimal. */
  readonly sha256: string;
};

/** The monitor that the seal of a report on several subjects names: there is none of that number, and no ledger of all. */
export const severalSubjects = 0;

/** A seal that was found at the end of a file. */
export type FoundSeal = {
  readonly fields: SealFields;
  /** The bytes that were signed. */
  readonly signed: Buffer;
  readonly signature: Buffer;
  /** The bytes before the seal have the digest that it names, and nothing follows it. */
  readonly isIntact: boolean;
};

/** Signs bytes: 64 bytes of Ed25519. */
export type Sign = (content: Uint8Array) => Uint8Array;

const form = 'parallax-sla-1';
const purpose = Buffer.from('parallax sla report\n');

/** Which kind of file bytes are. */
export function kindOf(bytes: Uint8Array): FileKind {
  return Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-' ? 'pdf' : 'csv';
}

/** SHA-256 in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The name of a public key in a seal. */
export function keyName(publicKey: Uint8Array): string {
  return sha256(publicKey).slice(0, 16);
}

/** The file with its seal as the last line: a record of CSV, a comment of PDF. @param bytes ending in a line end */
export function sealed(bytes: Buffer, fields: Omit<SealFields, 'sha256'>, sign: Sign): Buffer {
  const text = sealText({ ...fields, sha256: sha256(bytes) });
  const signature = Buffer.from(sign(signedBytes(text))).toString('base64url');
  const { before, after } = frameOf(fields.kind, bytes);
  return Buffer.concat([bytes, Buffer.from(`${before}${text};signature=${signature}${after}`)]);
}

/** What stands around a seal: it is a record of CSV, as wide as the first one, or a comment of PDF. */
function frameOf(kind: FileKind, bytes: Buffer): { readonly before: string; readonly after: string } {
  if (kind === 'pdf') return { before: '%', after: '\n' };
  const firstLine = bytes.toString('latin1', 0, mostBytes).split('\r\n', 1)[0] ?? '';
  return { before: 'seal,', after: `${','.repeat(Math.max(0, firstLine.split(',').length - 2))}\r\n` };
}

function sealText(fields: SealFields): string {
  return [
    form,
    `kind=${fields.kind}`,
    `monitor=${fields.monitorId}`,
    `from=${fields.fromMs}`,
    `to=${fields.toMs}`,
    `generated=${fields.generatedMs}`,
    `chain=${fields.chain}`,
    `seq=${fields.seq}`,
    `head=${fields.head ?? '-'}`,
    `key=${fields.key}`,
    `sha256=${fields.sha256}`,
  ].join(';');
}

/** With a purpose, so that the key's signature under something else can never pass for one of a report. */
function signedBytes(text: string): Buffer {
  return Buffer.concat([purpose, Buffer.from(text)]);
}

/** No seal is longer. */
const mostBytes = 1_024;
const number = '(0|[1-9][0-9]{0,14})';
const sealPattern = new RegExp(
  `(${form};kind=(csv|pdf);monitor=${number};from=${number};to=${number};generated=${number};chain=${number};seq=${number};` +
    'head=([0-9a-f]{64}|-);key=([0-9a-f]{16});sha256=([0-9a-f]{64}));signature=([A-Za-z0-9_-]{86})',
);

/** Reads the seal at the end of a file; undefined where there is none. Looks at the last bytes only. */
export function findSeal(bytes: Buffer): FoundSeal | undefined {
  const tailAt = Math.max(0, bytes.length - mostBytes);
  const tail = bytes.toString('latin1', tailAt);
  const lineAt = tail.lastIndexOf(`${form};`);
  if (lineAt === -1) return undefined;
  const found = sealPattern.exec(tail.slice(lineAt));
  if (found === null || found.index !== 0) return undefined;
  const [
    whole,
    text = '',
    kind,
    monitor,
    from,
    to,
    generated,
    chain,
    seq,
    head,
    key = '',
    digest = '',
    signature = '',
  ] = found;
  const fields: SealFields = {
    kind: kind === 'pdf' ? 'pdf' : 'csv',
    monitorId: Number(monitor),
    fromMs: Number(from),
    toMs: Number(to),
    generatedMs: Number(generated),
    chain: Number(chain),
    seq: Number(seq),
    head: head === '-' || head === undefined ? null : head,
    key,
    sha256: digest,
  };
  const signatureBytes = Buffer.from(signature, 'base64url');
  // The last digit has bits to spare, which would be a byte that can be changed unseen.
  if (signatureBytes.toString('base64url') !== signature) return undefined;
  const { before, after } = frameOf(fields.kind, bytes);
  const contentEnd = tailAt + lineAt - before.length;
  const isFramed =
    contentEnd >= 0 &&
    bytes.toString('latin1', contentEnd, tailAt + lineAt) === before &&
    tail.slice(lineAt) === whole + after;
  return {
    fields,
    signed: signedBytes(text),
    signature: signatureBytes,
    isIntact: isFramed && kindOf(bytes) === fields.kind && sha256(bytes.subarray(0, contentEnd)) === fields.sha256,
  };
}
