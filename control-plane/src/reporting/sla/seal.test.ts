import { createEd25519Pair, signEd25519, verifyEd25519 } from '@parallax/pki';
import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { findSeal, keyName, sealed } from './seal.ts';
import type { FileKind, SealFields } from './seal.ts';

const { seed, publicKey } = createEd25519Pair();
const sign = (content: Uint8Array) => signEd25519(seed, content);

const fields: Omit<SealFields, 'sha256'> = {
  kind: 'csv',
  monitorId: 7,
  fromMs: Date.parse('2026-03-01T00:00:00Z'),
  toMs: Date.parse('2026-04-01T00:00:00Z'),
  generatedMs: Date.parse('2026-04-01T00:00:05Z'),
  chain: 2,
  seq: 31,
  head: 'ab'.repeat(32),
  key: keyName(publicKey),
};
const csv = Buffer.from('\uFEFFsummary,name,value,\r\nsummary,monitor,"Магазин, ""x""",\r\n');
const pdf = Buffer.from('%PDF-1.7\n%\xe2\xe3\n1 0 obj\nendobj\n%%EOF\n', 'latin1');
const fileOf = (kind: FileKind) => sealed(kind === 'csv' ? csv : pdf, { ...fields, kind }, sign);
const isSigned = (file: Buffer) => {
  const seal = findSeal(file);
  return seal !== undefined && verifyEd25519(publicKey, seal.signed, seal.signature);
};

void t.test('a seal is read as it was written', async (t) => {
  for (const kind of ['csv', 'pdf'] as const) {
    const file = fileOf(kind);
    const seal = findSeal(file);
    t.match(seal, { fields: { ...fields, kind }, isIntact: true });
    t.ok(isSigned(file));
    t.ok(
      file.subarray(0, kind === 'csv' ? csv.length : pdf.length).equals(kind === 'csv' ? csv : pdf),
      'nothing before it changes',
    );
  }
  const lines = fileOf('csv').toString().split('\r\n');
  t.match(lines.at(-2), /^seal,parallax-sla-1;[^,]+,,$/, 'as wide as the other records');
  t.match(findSeal(sealed(csv, { ...fields, seq: 0, head: null }, sign)), {
    fields: { seq: 0, head: null },
    isIntact: true,
  });
});

void t.test('any single byte that is changed, added or left out is found', async () => {
  fc.assert(
    fc.property(
      fc.constantFrom('csv', 'pdf'),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.constantFrom('change', 'add', 'cut'),
      (kind, place, by, how) => {
        const file = fileOf(kind);
        const at = place % file.length;
        const changed = Buffer.from(file);
        changed.writeUInt8(changed.readUInt8(at) ^ by, at);
        const altered = {
          change: changed,
          add: Buffer.concat([file.subarray(0, at + 1), Buffer.of(by), file.subarray(at + 1)]),
          cut: Buffer.concat([file.subarray(0, at), file.subarray(at + 1)]),
        }[how];
        return findSeal(altered)?.isIntact !== true || !isSigned(altered);
      },
    ),
    { numRuns: 500 },
  );
});

void t.test('the signature is written in one way only', async (t) => {
  const text = fileOf('pdf').toString('latin1');
  for (const digit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
    const other = Buffer.from(`${text.slice(0, -2)}${digit}\n`, 'latin1');
    t.equal(isSigned(other), digit === text.at(-2), digit);
  }
});

void t.test('a seal of one kind of file is none of the other', async (t) => {
  const text = fileOf('csv').toString('utf8', csv.length);
  t.equal(findSeal(Buffer.concat([pdf, Buffer.from(text)]))?.isIntact, false);
  t.equal(findSeal(sealed(csv, { ...fields, kind: 'pdf' }, sign))?.isIntact, false);
});

void t.test('hostile files have no seal, and cost little', async (t) => {
  t.equal(findSeal(Buffer.alloc(0)), undefined);
  t.equal(findSeal(Buffer.from('parallax-sla-1;')), undefined);
  t.equal(findSeal(Buffer.from(`seal,parallax-sla-1;kind=csv;monitor=${'9'.repeat(400)};`)), undefined);
  t.equal(findSeal(Buffer.alloc(10 << 20, 'parallax-sla-1;')), undefined);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => findSeal(Buffer.from(bytes)) === undefined));
});
