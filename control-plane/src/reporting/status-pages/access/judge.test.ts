import t from 'tap';
import { judge } from './judge.ts';
import type { ShownFacts } from './judge.ts';

const nothing: ShownFacts = { isFromAllowedAddress: false, hasCookie: false, password: 'none' };
const withPassword = { passwordHash: 'hash' };
const withoutPassword = { passwordHash: null };

t.test('a public page is open to everybody', async (t) => {
  for (const password of ['none', 'right', 'unchecked'] as const)
    t.equal(judge(null, { ...nothing, password }), 'open');
});

t.test('one of the ways is enough, and without any a private page is closed', async (t) => {
  for (const access of [withPassword, withoutPassword]) {
    t.equal(judge(access, nothing), 'refused');
    t.equal(judge(access, { ...nothing, isFromAllowedAddress: true }), 'open');
    t.equal(judge(access, { ...nothing, hasCookie: true }), 'open');
    t.equal(
      judge(access, { ...nothing, hasCookie: true, password: 'unchecked' }),
      'open',
      'nothing is compared for it',
    );
  }
  t.equal(judge(withPassword, { ...nothing, password: 'right' }), 'open');
  t.equal(judge(withPassword, { ...nothing, password: 'unchecked' }), 'check');
});

t.test('where a page has no password, none opens it', async (t) => {
  for (const password of ['none', 'right', 'unchecked'] as const)
    t.equal(judge(withoutPassword, { ...nothing, password }), 'refused');
});
