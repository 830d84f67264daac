import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { digestAnswer, digestChallenge } from './digest.ts';

/** The parameters of an Authorization field. */
function parts(field: string): Record<string, string> {
  return Object.fromEntries(
    [...field.replace(/^Digest /, '').matchAll(/([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]+))/g)].map(
      ([, name, quoted, plain]) => [name ?? '', quoted ?? plain ?? ''],
    ),
  );
}

const mufasa = {
  username: 'Mufasa',
  password: 'Circle of Life',
  method: 'GET',
  uri: '/dir/index.html',
  body: undefined,
  clientNonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
};
const given =
  'realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';

void t.test('the answers are those of the examples of RFC 7616', async (t) => {
  const answer = (algorithm: string) => {
    const challenge = digestChallenge([`Digest ${given}, algorithm=${algorithm}`]);
    return challenge && parts(digestAnswer(challenge, mufasa));
  };
  t.match(answer('MD5'), {
    username: 'Mufasa',
    realm: 'http-auth@example.org',
    uri: '/dir/index.html',
    algorithm: 'MD5',
    qop: 'auth',
    nc: '00000001',
    cnonce: mufasa.clientNonce,
    opaque: 'FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS',
    response: '8ca523f5e9506fed4657c9700eebdbec',
  });
  t.match(answer('SHA-256'), { response: '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1' });
});

void t.test('the answer is that of RFC 2069 too, where a server sends no quality of protection', async (t) => {
  const challenge = digestChallenge([
    'Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
  ]);
  if (challenge === undefined) return t.fail('it is usable');
  const answer = parts(digestAnswer(challenge, { ...mufasa, password: 'Circle Of Life' }));
  t.equal(answer['response'], '670fd8c2df070c60b045671b8b24ff02');
  t.notOk('qop' in answer || 'nc' in answer || 'cnonce' in answer);
});

void t.test('of several challenges the strongest that can be answered is taken', async (t) => {
  const both = [`Digest ${given}, algorithm=MD5`, `Basic realm="a, b", Digest ${given}, algorithm=SHA-256`];
  t.equal(digestChallenge(both)?.algorithm.name, 'SHA-256');
  t.equal(digestChallenge([both.join(', ')])?.algorithm.name, 'SHA-256', 'also in one field');
  t.equal(digestChallenge([`Digest ${given}, algorithm=FUTURE`, `digest ${given}`])?.algorithm.name, 'MD5');
  for (const useless of [
    [],
    ['Basic realm="x"'],
    ['Bearer'],
    ['Digest realm="x"'],
    ['Digest nonce="x"'],
    [`Digest realm="r", nonce="n", qop="future"`],
    ['Digest realm="unterminated'],
    ['a='.repeat(10_000)],
  ])
    t.equal(digestChallenge(useless), undefined, useless.join().slice(0, 40));
});

void t.test('names beyond ASCII and quotes are spelled as the standard says', async (t) => {
  const plain = digestChallenge(['Digest realm="a\\"b", nonce="n", qop="auth"']);
  if (plain === undefined) return t.fail('it is usable');
  const field = digestAnswer(plain, { ...mufasa, username: 'Jäsøn Doe' });
  t.match(field, "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe");
  t.match(field, 'realm="a\\"b"');
  t.match(digestAnswer(plain, { ...mufasa, username: 'a"b\\' }), 'username="a\\"b\\\\"');
  const hashed = digestChallenge([
    'Digest realm="api@example.org", qop="auth", algorithm=SHA-256, nonce="n", userhash=true, charset=UTF-8',
  ]);
  if (hashed === undefined) return t.fail('it is usable');
  const answer = parts(digestAnswer(hashed, { ...mufasa, username: 'Jäsøn Doe' }));
  t.match(answer, {
    userhash: 'true',
    username: '5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7',
  });
});

void t.test('sessions, truncated SHA-512 and bodies are worked out as other programs do it', async (t) => {
  const question = {
    username: 'u',
    password: 'p',
    method: 'PUT',
    uri: '/x',
    body: Buffer.from('body'),
    clientNonce: 'c',
  };
  const answer = (field: string, more = {}) => {
    const challenge = digestChallenge([field]);
    return challenge && parts(digestAnswer(challenge, { ...question, ...more }))['response'];
  };
  t.equal(
    answer('Digest realm="r", nonce="n", qop="auth-int", algorithm=SHA-256-sess'),
    'f7c2dd4c4cf2b8357f55e12ae9fc35769f11dc93d2f893be985f1cf095efe296',
  );
  t.equal(
    answer('Digest realm="r", nonce="n", qop=auth, algorithm=SHA-512-256', { method: 'GET' }),
    '13ed4cea86bc832847245831672e52baa4378160c0061c130f7484c6267e37b9',
  );
});

void t.test('the body is part of the answer where the server wants that', async (t) => {
  const challenge = digestChallenge(['Digest realm="r", nonce="n", qop="auth-int"']);
  if (challenge === undefined) return t.fail('it is usable');
  const one = parts(digestAnswer(challenge, { ...mufasa, body: Buffer.from('one') }));
  const two = parts(digestAnswer(challenge, { ...mufasa, body: Buffer.from('two') }));
  t.equal(one['qop'], 'auth-int');
  t.not(one['response'], two['response']);
});

void t.test('the time to read a challenge grows with its length only', async (t) => {
  for (const text of ['Digest ' + 'a="'.repeat(3000), 'Digest ' + ' ,'.repeat(4000), 'Digest ' + '\\'.repeat(8000)]) {
    const read = () => t.equal(digestChallenge(Array.from({ length: 100 }, () => text)), undefined);
    t.ok((await processorMs(read)) < 500);
  }
});
