import { decode, encodeUser } from '@nats-io/jwt';
import { fromPublic, fromSeed } from '@nats-io/nkeys';
import { processorMs } from '@parallax/testkit/time-taken';
import { credsAuthenticator } from '@nats-io/transport-node';
import t from 'tap';
import {
  createEd25519Pair,
  createNatsSeeds,
  createNkey,
  credentialsText,
  natsAuthenticator,
  nkeyPublic,
  nkeySeed,
  openNatsAuthority,
  readNkeySeed,
  signNatsJwt,
  withRevocations,
} from './index.ts';

t.test('keys read and written here are the ones of the NATS library', async (t) => {
  for (const kind of ['operator', 'account', 'user'] as const) {
    const key = createNkey(kind);
    const theirs = fromSeed(Buffer.from(key.seedText));
    t.equal(theirs.getPublicKey(), key.publicText, kind);
    t.same(readNkeySeed(key.seedText), { kind, seed: Buffer.from(key.seed) });
    t.ok(fromPublic(key.publicText).verify(Buffer.from('x'), theirs.sign(Buffer.from('x'))));
  }
  const pair = createEd25519Pair();
  t.equal(fromSeed(Buffer.from(nkeySeed('user', pair.seed))).getPublicKey(), nkeyPublic('user', pair.publicKey));
});

t.test('a mistyped seed is refused by its checksum, and a seed of another kind by its kind', async (t) => {
  const seeds = createNatsSeeds();
  const mistyped = seeds.account.slice(0, 20) + (seeds.account[20] === 'A' ? 'B' : 'A') + seeds.account.slice(21);
  t.throws(() => readNkeySeed(mistyped), /mistyped/);
  t.throws(() => readNkeySeed('SUA'), /not a NATS seed/);
  t.throws(() => readNkeySeed(createNkey('user').publicText), /not a NATS seed/);
  t.throws(() => openNatsAuthority({ ...seeds, operator: seeds.account }), /expected the seed of an operator/);
});

t.test(
  "a probe's JWT names its own subjects only, ends when it should and is signed by the account's signing key",
  async (t) => {
    const seeds = createNatsSeeds();
    const authority = openNatsAuthority(seeds);
    const { publicKey } = createEd25519Pair();
    const nowMs = 1_700_000_000_000;
    const jwt = authority.mintProbeJwt({ probeId: 7, publicKey, shards: 2, nowMs, expiresAtMs: nowMs + 3_600_000 });
    const claims = decode<Record<string, unknown>>(jwt);
    t.equal(claims.sub, nkeyPublic('user', publicKey));
    t.equal(claims.iss, fromSeed(Buffer.from(seeds.probesSigning)).getPublicKey());
    t.equal(claims.exp, 1_700_003_600);
    t.match(claims.nats, {
      type: 'user',
      issuer_account: authority.probeAccount,
      pub: { allow: ['results.7.0', 'results.7.1'] },
      sub: { allow: ['_INBOX_7.>'] },
    });
    const [header, payload, signature] = jwt.split('.');
    const verified = fromPublic(claims.iss).verify(
      Buffer.from(`${header}.${payload}`),
      Buffer.from(signature ?? '', 'base64url'),
    );
    t.ok(verified);
  },
);

t.test('both accounts name every revoked key with a whole second that is not before the revocation', async (t) => {
  const authority = openNatsAuthority(createNatsSeeds());
  const { publicKey } = createEd25519Pair();
  const jwts = authority.accountJwts([{ publicKey, revokedAtMs: 1_700_000_000_001 }], 1);
  t.same(Object.keys(jwts).sort(), [authority.account, authority.probeAccount].sort());
  for (const [account, jwt] of Object.entries(jwts)) {
    const claims = decode<Record<string, unknown>>(jwt);
    t.equal(claims.sub, account);
    t.same(claims.nats['revocations'], { [nkeyPublic('user', publicKey)]: 1_700_000_001 });
  }
});

t.test(
  'revocations are put into the JWT of an account that somebody else wrote; everything else of it stays',
  async (t) => {
    const [operator, signing, account] = [createNkey('operator'), createNkey('operator'), createNkey('account')];
    const given = { type: 'account', limits: { conn: 77 }, revocations: { '*': 1 } } as const;
    const jwt = signNatsJwt(
      operator,
      { sub: account.publicText, name: 'GIVEN', exp: 2_000_000_000, nats: given },
      1_000,
    );
    const { publicKey } = createEd25519Pair();
    const changed = withRevocations(jwt, signing.seedText, [{ publicKey, revokedAtMs: 5_000 }], 9_000);
    const claims = decode<Record<string, unknown>>(changed);
    t.match(claims, { sub: account.publicText, name: 'GIVEN', exp: 2_000_000_000, iat: 9, iss: signing.publicText });
    t.same(claims.nats, { ...given, revocations: { [nkeyPublic('user', publicKey)]: 5 }, version: 2 });
    const ofUser = signNatsJwt(account, { sub: 'U', name: 'x', nats: { type: 'user' } }, 1_000);
    t.throws(() => withRevocations(ofUser, signing.seedText, [], 1), /JWT of an account/);
    t.throws(() => withRevocations('a.b.c', signing.seedText, [], 1), /not a JWT/);
    t.throws(() => withRevocations(jwt, account.seedText, [], 1), /seed of an operator/);
  },
);

t.test('a challenge is answered as the NATS library answers it', (t) => {
  const user = createNkey('user');
  const text = credentialsText('head.body.signature', user.seedText);
  const note = '*** a note of whoever made the file: never share it ***';
  const texts = {
    'as written here': text,
    'with the ends of lines of Windows': text.replaceAll('\n', '\r\n'),
    'with a note between the parts': text.replace('\n\n', `\n\n${note}\n\n`),
    'with text before and spaces': `${note}\n\n${text.replaceAll('\n', '  \n')}`,
  };
  for (const [name, credentials] of Object.entries(texts)) {
    const answer = natsAuthenticator(credentials)('a challenge');
    t.same(answer, credsAuthenticator(Buffer.from(text))('a challenge'), name);
  }
  t.same(natsAuthenticator(text)(), credsAuthenticator(Buffer.from(text))(), 'without a challenge');
  t.throws(() => natsAuthenticator('a password'), /not the credentials/);
  t.throws(() => natsAuthenticator(credentialsText('jwt', 'SU')), /not a NATS seed/);
  t.end();
});

t.test('minting by hand is many times cheaper than the library', async (t) => {
  const seeds = createNatsSeeds();
  const authority = openNatsAuthority(seeds);
  const { publicKey } = createEd25519Pair();
  const mint = (): string => authority.mintProbeJwt({ probeId: 7, publicKey, shards: 1, nowMs: 1, expiresAtMs: 2_000 });
  mint();
  const ours =
    (await processorMs(() => {
      for (let index = 0; index < 200; index += 1) mint();
    })) / 200;
  const issuer = fromSeed(Buffer.from(seeds.accountSigning));
  const library =
    (await processorMs(async () => {
      for (let index = 0; index < 5; index += 1) await encodeUser('probe', nkeyPublic('user', publicKey), issuer, {});
    })) / 5;
  t.comment(`${ours.toFixed(3)} ms by hand, ${library.toFixed(1)} ms by the library`);
  t.ok(ours < library / 4);
});
