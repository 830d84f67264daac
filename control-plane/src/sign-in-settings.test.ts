import { controlPlaneSettings, readSettings, SettingsError } from '@parallax/settings';
import t from 'tap';
import { signInSettings } from './sign-in-settings.ts';

const prefix = 'PARALLAX_IDENTITY_PROVIDER_';
const read = (env: Record<string, string>) => signInSettings(readSettings(controlPlaneSettings, env));

void t.test('a provider is described whole, and named after its host unless it has a name', async (t) => {
  t.same(read({}), { identityProviders: {} });
  const b = {
    [`${prefix}B_ISSUER`]: 'https://id.example.com/tenant',
    [`${prefix}B_CLIENT_ID`]: 'parallax',
    [`${prefix}B_CLIENT_SECRET`]: 'x',
  };
  t.same(read(b), {
    identityProviders: {
      b: { issuer: 'https://id.example.com/tenant', clientId: 'parallax', clientSecret: 'x', name: 'id.example.com' },
    },
  });
  t.match(read({ ...b, [`${prefix}B_NAME`]: 'Our people' }), { identityProviders: { b: { name: 'Our people' } } });
  t.match(read({ PARALLAX_MESSENGER_BOT_TOKEN: `1:${'a'.repeat(35)}` }), { messengerBotToken: /^1:a/ });
});

void t.test('half a provider and an insecure issuer are refused, without a word of the secret', async (t) => {
  const whole: Record<string, string> = {
    ISSUER: 'https://id.example.com',
    CLIENT_ID: 'p',
    CLIENT_SECRET: 'hidden',
    NAME: 'N',
  };
  const problemOf = (given: Record<string, string>) => {
    try {
      read(Object.fromEntries(Object.entries(given).map(([name, value]) => [`${prefix}A_${name}`, value])));
      return '';
    } catch (error) {
      return error instanceof SettingsError ? error.message : String(error);
    }
  };
  for (const name of ['ISSUER', 'CLIENT_ID', 'CLIENT_SECRET']) {
    const { [name]: _left, ...others } = whole;
    t.match(problemOf(others), /set all three or none/, `without ${name}`);
  }
  t.match(problemOf({ NAME: 'N' }), /set all three or none/);
  for (const issuer of [
    'http://id.example.com',
    'http://127.0.0.1.example.com',
    'https://u:p@id.example.com',
    'https://x?y',
    'https://x#y',
    'ftp://x',
    'x',
  ]) {
    const told = problemOf({ ...whole, ISSUER: issuer });
    t.match(told, /ISSUER/, issuer);
    t.notMatch(told, /hidden/);
  }
  for (const issuer of ['http://localhost:1', 'http://127.0.0.1:8080/x', 'http://[::1]:1']) {
    t.equal(problemOf({ ...whole, ISSUER: issuer }), '', issuer);
  }
  t.throws(() => read({ PARALLAX_MESSENGER_BOT_TOKEN: 'nothing like it' }), /the given value does not fit/);
});
