import t from 'tap';
import { totpCode } from '../testing/totp-code.ts';
import { makeRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts';
import { describeTotp, matchingStep } from './totp.ts';

void t.test('codes are those of RFC 6238, appendix B, cut to six digits', async (t) => {
  const secret = Buffer.from('12345678901234567890');
  const vectors: [seconds: number, code: string][] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ];
  for (const [seconds, code] of vectors) {
    const step = Math.floor(seconds / 30);
    t.equal(matchingStep(secret, code, seconds * 1_000), step);
    t.equal(matchingStep(secret, code, (seconds + 30) * 1_000), step, 'one step late');
    t.equal(matchingStep(secret, code, (seconds - 30) * 1_000), step, 'one step early');
    t.equal(matchingStep(secret, code, (seconds + 60) * 1_000), undefined, 'two steps late');
    t.equal(matchingStep(secret, code, (seconds - 60) * 1_000), undefined, 'two steps early');
    t.equal(totpCode(describeTotp(secret, '').base32, seconds * 1_000), code, 'the app of the tests agrees');
  }
});

void t.test('a label with anything in it stays a label', async (t) => {
  const { url } = describeTotp(Buffer.alloc(20), 'a:b?secret=X&issuer=Y@example.com');
  const read = new URL(url);
  t.equal(read.searchParams.get('issuer'), 'Parallax');
  t.equal(read.searchParams.get('secret'), 'A'.repeat(32));
  t.same(read.searchParams.getAll('secret').length, 1);
});

void t.test('recovery codes are ten, differ, and are read however they are typed', async (t) => {
  const codes = makeRecoveryCodes();
  t.equal(new Set(codes).size, 10);
  for (const code of codes) t.match(code, /^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
  const hash = recoveryCodeHash('01ab-cdef-ghjk-mnpq');
  for (const typed of ['OLAB CDEF GHJK MNPQ', '0iabcdefghjkmnpq', ' 01ab-cdef-ghjk-mnpq ']) {
    t.same(recoveryCodeHash(typed), hash, typed);
  }
  t.notSame(recoveryCodeHash('01ab-cdef-ghjk-mnpr'), hash);
});
