import fc from 'fast-check';
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
