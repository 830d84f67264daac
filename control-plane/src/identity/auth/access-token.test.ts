import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { accessTokenKeys, accessTokenSeconds, makeAccessToken, readAccessToken } from './access-token.ts';

const keys = () => accessTokenKeys(generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }));
const id = 'a3bb189e-8bf9-4c3f-8a2d-3a1f0f1b7c11';
const startMs = 1_700_000_000_000;
const tokenOf = (own: ReturnType<typeof keys>, counter = 1) =>
  makeAccessToken(own, { id, counter, rotatedAtMs: startMs });

t.test('a token that was verified before is judged by its times and its keys again', async (t) => {
  const own = keys();
  const token = await tokenOf(own);
  const read = (atMs: number, with_ = own) => readAccessToken(with_, token, atMs);
  t.equal(await read(startMs), id);
  t.equal(await read(startMs), id, 'again');
  t.equal(await read(startMs - 4_000), id, 'by a clock that is late');
  await t.rejects(read(startMs - 60_000), { code: 'invalid_credentials' }, 'before it begins');
  const endMs = startMs + accessTokenSeconds * 1_000;
  t.equal(await read(endMs - 1), id);
  t.equal(await read(endMs + 4_000), id, 'by a clock that is early');
  await t.rejects(read(endMs + 6_000), { code: 'token_expired' }, 'after its end');
  await t.rejects(read(startMs, keys()), { code: 'invalid_credentials' }, 'with other keys');
  const changed = `${token.slice(0, -2)}${token.endsWith('AA') ? 'BB' : 'AA'}`;
  await t.rejects(readAccessToken(own, changed, startMs), { code: 'invalid_credentials' }, 'with another signature');
  t.equal(await read(startMs), id, 'a forgery changes nothing');
});

t.test('more tokens than are remembered are all taken', async (t) => {
  const own = keys();
  const tokens = await Promise.all(Array.from({ length: 1_100 }, (_, counter) => tokenOf(own, counter)));
  for (const token of [...tokens, ...tokens]) t.equal(await readAccessToken(own, token, startMs), id);
});
