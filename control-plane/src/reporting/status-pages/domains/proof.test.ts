import t from 'tap';
import { foundText, isProven, newProof, standingAfter } from './proof.ts';

const dayMs = 86_400_000;
const records = (...values: string[]) => ({ kind: 'records', values }) as const;
const failed = { kind: 'failed', reason: 'no name server answered in time' } as const;

t.test('a proof stands when one of the records is it, with or without the quotes of a panel', async (t) => {
  const proof = newProof();
  t.not(proof, newProof());
  t.equal(isProven(records('v=spf1 -all', proof), proof), true);
  t.equal(isProven(records(` "${proof}" `), proof), true);
  for (const value of [proof.toUpperCase(), `${proof}x`, `x${proof}`, proof.slice(0, -1), '']) {
    t.equal(isProven(records(value), proof), false, value);
  }
  t.equal(isProven(records(), proof), false);
  t.equal(isProven(failed, proof), null, 'nobody knows');
});

t.test('what was found is told in short, and turns nothing', async (t) => {
  t.equal(foundText('a.example', records()), '_parallax.a.example has no TXT record');
  t.equal(
    foundText('a.example', failed),
    '_parallax.a.example could not be looked up: no name server answered in time',
  );
  const many = foundText('a.example', records('\u202eone"', 'x'.repeat(500), 'three', 'four', 'five'));
  t.equal(many, `_parallax.a.example has "\ufffdone\\"", "${'x'.repeat(100)}…", "three" and 2 more`);
});

t.test('a proof that is gone for seven days in a row is lost; a look without an answer says nothing', async (t) => {
  t.same(standingAfter(true, null, 10), { missingMs: null, isLost: false });
  t.same(standingAfter(false, null, 10), { missingMs: 10, isLost: false });
  t.same(standingAfter(false, 10, 10 + 7 * dayMs - 1), { missingMs: 10, isLost: false });
  t.same(standingAfter(false, 10, 10 + 7 * dayMs), { missingMs: 10, isLost: true });
  t.same(standingAfter(true, 10, 10 + 7 * dayMs), { missingMs: null, isLost: false });
  t.same(standingAfter(null, 10, 10 + 30 * dayMs), { missingMs: 10, isLost: false });
  t.same(standingAfter(null, null, 10), { missingMs: null, isLost: false });
});
