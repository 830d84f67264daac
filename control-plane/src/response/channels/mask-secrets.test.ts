import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { maskSecrets } from './mask-secrets.ts';

void t.test('a secret is masked however it travels', async (t) => {
  const secret = 'p@ss/word "7"';
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
  ];
  for (const form of forms) t.notOk(maskSecrets(`said ${form}.`, [secret]).includes(form.replaceAll('"', '')), form);
});

void t.test('of an address the path goes and the host stays', async (t) => {
  const url = 'https://hooks.example.com/services/T0/B0/abcdef?x=1';
  t.equal(maskSecrets(`POST ${url}`, [url]), 'POST ***');
  t.equal(maskSecrets('hooks.example.com answered', [url]), 'hooks.example.com answered');
  t.notMatch(maskSecrets('no service services/T0/B0/abcdef?x=1', [url]), 'abcdef');
});

void t.test('keys of an address are masked alone, plain words of its path are not', async (t) => {
  const url = 'https://hooks.example.com/integration/v2/0123abcd4567/send?access_token=k9-secret&sig=a%2Bb%2Fc%3Ddef';
  t.equal(maskSecrets('no token k9-secret', [url]), 'no token ***');
  t.equal(maskSecrets('wrong sig a+b/c=def or a%2Bb%2Fc%3Ddef', [url]), 'wrong sig *** or ***');
  t.equal(maskSecrets('integration 0123abcd4567 is unknown', [url]), 'integration *** is unknown');
});

void t.test('no secret of four characters or more is left in any text', async () => {
  const secret = fc.string({ minLength: 4, maxLength: 40 }).filter((text) => !text.includes('*'));
  fc.assert(
    fc.property(
      secret,
      fc.string(),
      fc.string(),
      (word, before, after) => !maskSecrets(before + word + after, [word]).includes(word),
    ),
  );
});
