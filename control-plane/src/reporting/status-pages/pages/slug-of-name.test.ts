import fc from '@parallax/testkit/fast-check';
import { reservedSlugs } from '@parallax/api-contract';
import t from 'tap';
import { isSlugOf, slugOfName, slugsToTry } from './slug-of-name.ts';

const form = /^[a-z0-9][a-z0-9-]{1,62}$/;

void t.test('names of several alphabets become readable slugs', async (t) => {
  for (const [name, slug] of [
    ['My Shop', 'my-shop'],
    ['  Crème   Brûlée & Co. ', 'creme-brulee-co'],
    ['Łódź Straße Øresund', 'lodz-strasse-oresund'],
    ['Магазин «Щука»', 'magazin-shchuka'],
    ['Объявления и Йод', 'obiavleniia-i-iod'],
    ['Київ', 'kiiv'],
    ['Љубљана', 'ljubljana'],
    ["Bob's status", 'bobs-status'],
    ['東京', 'page'],
    ['!!!', 'page'],
    ['Х', 'kh'],
    ['X', 'x-page'],
    ['ﬁne', 'fine'],
  ] as const) {
    t.equal(slugOfName(name), slug, name);
  }
});

void t.test('whatever a name is, what is tried are slugs that a page may have', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (name) => {
      const base = slugOfName(name);
      for (const slug of slugsToTry(base, Math.random)) {
        if (!form.test(slug) || reservedSlugs.has(slug) || !isSlugOf(slug, base)) throw new Error(`${name}: ${slug}`);
      }
    }),
  );
  t.same(slugsToTry('api', () => 0.5).slice(0, 2), ['api-2', 'api-3'], 'a reserved word gets a number');
  t.same(slugsToTry('shop', () => 0.5).slice(0, 2), ['shop', 'shop-2']);
  t.notOk(isSlugOf('shop-two', 'shop'));
  t.notOk(isSlugOf('shopping', 'shop'));
});
