import { createEd25519Pair, signEd25519 } from '@parallax/pki';
import t from 'tap';
import { findSeal, keyName, kindOf, sealed, sha256 } from './seal.ts';
import type { SealFields, Sign } from './seal.ts';

/* The form of a seal: files that were sent years ago must still be read, so it may never change. */

const { seed, publicKey } = createEd25519Pair();
const sign: Sign = (content) => signEd25519(seed, content);
const fields: Omit<SealFields, 'sha256'> = {
  kind: 'csv',
  monitorId: 7,
  fromMs: 1,
  toMs: 2,
  generatedMs: 3,
  chain: 4,
  seq: 0,
  head: null,
  key: keyName(publicKey),
};
const csv = Buffer.from('a,b,c\r\n1,2,3\r\n');
const pdf = Buffer.from('%PDF-1.7\n%%EOF\n');
const nothing: Sign = () => new Uint8Array(64);
const textOf = (kind: string, bytes: Buffer) =>
  `parallax-sla-1;kind=${kind};monitor=7;from=1;to=2;generated=3;chain=4;seq=0;head=-;key=${fields.key};sha256=${sha256(bytes)}`;

t.test('a seal is a record of CSV as wide as the first, or a comment of PDF', async (t) => {
  const signature = 'A'.repeat(86);
  t.equal(
    sealed(csv, fields, nothing).toString(),
    `${csv.toString()}seal,${textOf('csv', csv)};signature=${signature},\r\n`,
  );
  t.equal(
    sealed(pdf, { ...fields, kind: 'pdf' }, nothing).toString(),
    `${pdf.toString()}%${textOf('pdf', pdf)};signature=${signature}\n`,
  );
  for (const [line, commas] of [
    ['', 0],
    ['a', 0],
    ['a,b', 0],
    ['a,b,c,d', 2],
    [',b,c', 1],
  ] as const) {
    const bytes = Buffer.from(`${line}\r\n`);
    const file = sealed(bytes, fields, nothing);
    t.match(file.toString(), new RegExp(`;signature=${signature}${','.repeat(commas)}\r\n$`), `${commas} after`);
    t.match(findSeal(file), { isIntact: true });
  }
  const wide = Buffer.from(`${'x'.repeat(1_022)},b,c\r\n`);
  t.ok(
    sealed(wide, fields, nothing).toString().endsWith(`${signature}\r\n`),
    'of what stands in the first 1,024 bytes',
  );
});

t.test('what is signed begins with what it is for', async (t) => {
  let signed = '';
  sealed(csv, fields, (content) => {
    signed = Buffer.from(content).toString();
    return new Uint8Array(64);
  });
  t.equal(signed, `parallax sla report\n${textOf('csv', csv)}`);
  t.equal(findSeal(sealed(csv, fields, sign))?.signed.toString(), signed);
});

t.test('the last seal of a file counts', async (t) => {
  const twice = sealed(sealed(csv, fields, sign), { ...fields, seq: 9, head: 'ab'.repeat(32) }, sign);
  t.match(findSeal(twice), { isIntact: true, fields: { seq: 9, head: 'ab'.repeat(32) } });
});

t.test('a seal that is the whole file is one of nothing; without what stands before it, it is broken', async (t) => {
  const empty = Buffer.alloc(0);
  const alone = sealed(empty, fields, sign);
  t.match(findSeal(alone), { isIntact: true, fields: { sha256: sha256(empty) } });
  t.equal(findSeal(alone.subarray('seal,'.length))?.isIntact, false);
  t.equal(findSeal(alone.subarray(1))?.isIntact, false);
  t.equal(findSeal(sealed(empty, { ...fields, kind: 'pdf' }, sign))?.isIntact, false, 'nothing is no PDF');
  t.equal(findSeal(Buffer.concat([Buffer.from('x'), alone]))?.isIntact, false);
});

t.test('a seal is looked for in the last 1,024 bytes', async (t) => {
  const file = sealed(csv, fields, sign);
  const sealBytes = file.length - csv.length - 'seal,'.length;
  const followed = (bytes: number) => findSeal(Buffer.concat([file, Buffer.alloc(bytes, 'x')]));
  t.match(followed(1_024 - sealBytes), { isIntact: false }, 'just there');
  t.equal(followed(1_024 - sealBytes + 1), undefined);
});

t.test('what begins with %PDF- is one, and nothing else', async (t) => {
  t.equal(kindOf(pdf), 'pdf');
  for (const other of ['', '%PDF', '%PDF_1', ' %PDF-', '%pdf-']) t.equal(kindOf(Buffer.from(other)), 'csv', other);
});

t.test('a key is named by 16 digits of its digest', async (t) => {
  t.equal(keyName(Buffer.from('')), 'e3b0c44298fc1c14');
  t.equal(sha256(Buffer.from('')), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});
