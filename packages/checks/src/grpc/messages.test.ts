import { randomBytes } from 'node:crypto';
import t from 'tap';
import { healthAnswer, healthRequest, statusName } from './messages.ts';

const framed = (hex: string) => {
  const message = Buffer.from(hex, 'hex');
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

void t.test('a question is framed as gRPC wants it', async (t) => {
  t.equal(healthRequest('').toString('hex'), '0000000000');
  t.equal(healthRequest('a.B').toString('hex'), '00000000050a03612e42');
  const long = healthRequest('x'.repeat(300));
  t.equal(long.subarray(0, 8).toString('hex'), '000000012f0aac02');
  t.equal(long.length, 5 + 303);
});

void t.test('an answer is read, and what is no answer is said', async (t) => {
  t.same(healthAnswer(framed('')), { state: 'UNKNOWN' });
  t.same(healthAnswer(framed('0801')), { state: 'SERVING' });
  t.same(healthAnswer(framed('0802')), { state: 'NOT_SERVING' });
  t.same(healthAnswer(framed('0803')), { state: 'SERVICE_UNKNOWN' });
  t.same(healthAnswer(framed('0809')), { state: 'UNKNOWN' }, 'a state of a newer version');
  t.same(
    healthAnswer(framed('120361626308011d00000000210000000000000000')),
    { state: 'SERVING' },
    'fields of a newer version',
  );
  for (const [what, bytes] of Object.entries({
    nothing: Buffer.alloc(0),
    compressed: Buffer.from('01000000020801', 'hex'),
    short: Buffer.from('00000000030801', 'hex'),
    long: Buffer.from('000000000108010801', 'hex'),
    'a varint without end': framed('08ffffffffffffffffffffff'),
    'a length beyond the end': framed('12ff01'),
    'a group': framed('0b'),
    'field 0': framed('0001'),
  }))
    t.match(healthAnswer(bytes), { problem: /^The answer .*\.$/ }, what);
  for (let round = 0; round < 5000; round += 1) healthAnswer(framed(randomBytes(round % 40).toString('hex')));
  t.equal(statusName(14), 'UNAVAILABLE');
  t.equal(statusName(99), 'status 99');
});
