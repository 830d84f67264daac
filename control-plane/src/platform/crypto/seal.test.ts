import { randomBytes } from 'node:crypto';
import t from 'tap';
import { encrypt } from './aes-gcm.ts';
import { derivedKey, keyIdOf } from './key-id.ts';
import { createSealer, sealedPrefix } from './seal.ts';

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

void t.test('what is sealed opens under its key and context, and nowhere else', async (t) => {
  const sealer = createSealer(oldKey);
  const sealed = sealer.seal('hush', 'row 1');
  t.equal(sealer.open(sealed, 'row 1').toString(), 'hush');
  t.notOk(sealed.includes('hush'));
  t.not(sealer.seal('hush', 'row 1').toString('hex'), sealed.toString('hex'), 'never the same bytes twice');
  t.throws(() => sealer.open(sealed, 'row 2'), { name: 'SealError' }, 'another row');
  t.throws(() => createSealer(newKey).open(sealed, 'row 1'), { name: 'SealError' }, 'another key');
  for (let at = 0; at < sealed.length; at += 1) {
    const altered = Buffer.from(sealed);
    altered[at] = (altered[at] ?? 0) ^ 1;
    t.throws(() => sealer.open(altered, 'row 1'), { name: 'SealError' }, `byte ${at} altered`);
    t.throws(() => sealer.open(sealed.subarray(0, at), 'row 1'), { name: 'SealError' }, `cut at ${at}`);
  }
  t.throws(() => sealer.open(Buffer.alloc(0), 'row 1'), { name: 'SealError' });
  t.throws(() => createSealer(randomBytes(31)), { name: 'SealError', message: /31 bytes/ });
});

void t.test('each value has a data key of its own, so the parts of two values do not fit together', async (t) => {
  const sealer = createSealer(oldKey);
  const [one, two] = [sealer.seal('one', 'row'), sealer.seal('two', 'row')];
  const mixed = Buffer.concat([one.subarray(0, 69), two.subarray(69)]);
  t.throws(() => sealer.open(mixed, 'row'), { name: 'SealError' });
});

void t.test('a value of the first version is read, and moved with its context', async (t) => {
  const first = Buffer.concat([
    Buffer.of(1),
    encrypt(derivedKey(oldKey, 'sealing'), Buffer.from('old times'), 'row 1'),
  ]);
  const ring = createSealer(newKey, [oldKey]);
  t.equal(ring.open(first, 'row 1').toString(), 'old times');
  t.equal(ring.keyOf(first, 'row 1'), keyIdOf(oldKey));
  const moved = ring.reseal(first, 'row 1');
  t.equal(ring.keyOf(moved, 'row 1'), keyIdOf(newKey));
  t.equal(createSealer(newKey).open(moved, 'row 1').toString(), 'old times');
  t.throws(() => ring.reseal(first, undefined), { name: 'SealError' });
  t.throws(() => ring.open(first, 'row 2'), { name: 'SealError' });
});

void t.test('a value moves to another key without being opened', async (t) => {
  const sealed = createSealer(oldKey).seal('hush', 'row 1');
  const ring = createSealer(newKey, [oldKey]);
  const moved = ring.reseal(sealed, undefined);
  t.same(moved.subarray(0, 9), sealedPrefix(keyIdOf(newKey)));
  t.same(moved.subarray(69), sealed.subarray(69), 'the value itself stays as it is');
  t.equal(createSealer(newKey).open(moved, 'row 1').toString(), 'hush');
  t.throws(() => createSealer(oldKey).open(moved, 'row 1'), { name: 'SealError' });
  t.throws(() => createSealer(newKey).reseal(sealed, 'row 1'), { name: 'SealError' }, 'the old key is needed');
});

void t.test('a ring opens with all its keys and seals with the one that it is told', async (t) => {
  const ring = createSealer(oldKey);
  t.throws(() => ring.sealWith(keyIdOf(newKey)), { name: 'SealError' });
  ring.add([newKey]);
  t.same(ring.holds(), [keyIdOf(oldKey), keyIdOf(newKey)]);
  t.equal(ring.sealsWith(), keyIdOf(oldKey));
  const before = ring.seal('a', 'x');
  ring.sealWith(keyIdOf(newKey));
  t.equal(ring.keyOf(ring.seal('b', 'x'), 'x'), keyIdOf(newKey));
  t.equal(ring.open(before, 'x').toString(), 'a');
  t.same(ring.derive('p'), createSealer(newKey).derive('p'));
  t.same(ring.withKey(keyIdOf(oldKey)).derive('p'), createSealer(oldKey).derive('p'));
});
