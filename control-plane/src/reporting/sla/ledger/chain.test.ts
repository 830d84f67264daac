import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { canonicalJson } from './canonical.ts';
import { chainStart, followChain, nextLink } from './chain.ts';
import type { ChainLink } from './chain.ts';

function chainOf(entries: readonly string[]): ChainLink[] {
  const links: ChainLink[] = [];
  for (const entry of entries) links.push(nextLink(links.at(-1) ?? chainStart, entry));
  return links;
}

const entryLists = fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 12 });

/** Replaces one element. */
const replaced = (links: readonly ChainLink[], index: number, change: Partial<ChainLink>): ChainLink[] =>
  links.map((link, at) => (at === index ? { ...link, ...change } : link));

void t.test('a chain that nobody touched holds', async () => {
  fc.assert(
    fc.property(entryLists, (entries) => {
      const links = chainOf(entries);
      const followed = followChain(chainStart, links);
      return followed.brokenAt === null && followed.head.seq === links.length && followed.head === links.at(-1);
    }),
  );
});

void t.test('any single change of any entry breaks it at that entry', async () => {
  fc.assert(
    fc.property(entryLists, fc.nat(), fc.nat(), fc.string({ maxLength: 20 }), (entries, place, bit, other) => {
      const links = chainOf(entries);
      const index = place % links.length;
      const link = links[index] ?? nextLink(chainStart, '');
      const broken = (changed: readonly ChainLink[]) => followChain(chainStart, changed).brokenAt;
      const digest = Buffer.from(link.digest);
      digest.writeUInt8(digest.readUInt8(bit % 32) ^ (1 << (bit % 8)), bit % 32);
      const isRemovalSeen = index === links.length - 1 || broken(links.toSpliced(index, 1)) === index + 1;
      return (
        (other === link.entry || broken(replaced(links, index, { entry: other })) === index + 1) &&
        broken(replaced(links, index, { digest })) === index + 1 &&
        broken(replaced(links, index, { seq: link.seq + 1 })) === index + 1 &&
        broken(links.toSpliced(index, 0, link)) !== null &&
        isRemovalSeen
      );
    }),
  );
});

void t.test('a change together with all digests after it shows in the last digest', async () => {
  fc.assert(
    fc.property(entryLists, fc.nat(), fc.string({ maxLength: 20 }), (entries, place, other) => {
      const index = place % entries.length;
      if (entries[index] === other) return true;
      const head = chainOf(entries).at(-1);
      const forged = chainOf(entries.with(index, other)).at(-1);
      return head !== undefined && forged !== undefined && !head.digest.equals(forged.digest);
    }),
  );
});

void t.test('the digest is that of the digest before and the text, so that anybody can compute it', async (t) => {
  // printf '%064d' 0 | xxd -r -p | cat - <(printf '{"a":1}') | sha256sum
  const { digest } = nextLink(chainStart, '{"a":1}');
  t.equal(digest.toString('hex'), 'b06a229070741292512e8760f470dd7a4c46ccfdf253df781d88dabe58c1ccb1');
});

void t.test('equal values have equal text', async (t) => {
  t.equal(
    canonicalJson({ b: 1, a: ['x', null, true], ä: { z: 'a"b', y: -3 } }),
    '{"a":["x",null,true],"b":1,"ä":{"y":-3,"z":"a\\"b"}}',
  );
  t.throws(() => canonicalJson({ a: 0.5 }), RangeError);
  t.throws(() => canonicalJson(Number.NaN), RangeError);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer())), (fields) => {
      const turned = Object.fromEntries(Object.entries(fields).toReversed());
      return (
        canonicalJson(fields) === canonicalJson(turned) &&
        Object.keys(fields).length === Object.keys(JSON.parse(canonicalJson(fields)) as object).length
      );
    }),
  );
});
