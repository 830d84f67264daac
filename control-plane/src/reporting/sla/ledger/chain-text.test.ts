import { createHash } from 'node:crypto';
import t from 'tap';
import { chainStart, nextLink } from './chain.ts';

t.test('a digest is SHA-256 over the one before and the UTF-8 of the entry', async (t) => {
  const first = nextLink(chainStart, 'Ärger');
  const expected = createHash('sha256').update(Buffer.alloc(32)).update(Buffer.from('Ärger')).digest();
  t.same(first, { seq: 1, digest: expected, entry: 'Ärger' });
  t.same(nextLink(first, '').digest, createHash('sha256').update(expected).digest());
});
