import t from 'tap';
import { renderLetter } from '../../platform/mail/letter.ts';
import type { Letter } from '../../platform/mail/letter.ts';
import {
  accountChangedLetter,
  accountDeletedLetter,
  addressChangedLetter,
  addressChangeLetter,
  addressChangeNotice,
  passwordChangedLetter,
  resetPasswordLetter,
  secondFactorResetLetter,
  secondFactorTriedLetter,
  tokenReusedLetter,
  verifyAddressLetter,
} from './index.ts';

const url = 'https://monitor.example/auth/reset-password#token=abc';
const hostile = '<img src=x onerror=alert(1)>"&@example.com';

const none = { apiKeys: 0, accessTokens: 0, identities: 0, passkeys: 0, authenticators: 0 };

const letters: Readonly<Record<string, (locale: 'en' | 'ru') => Letter>> = {
  resetPassword: (locale) => resetPasswordLetter(locale, url, '192.0.2.1'),
  passwordChanged: (locale) =>
    passwordChangedLetter(locale, { address: '192.0.2.1', isReset: false, revoked: none, keptKeys: 2 }),
  passwordReset: (locale) =>
    passwordChangedLetter(locale, {
      address: '192.0.2.1',
      isReset: true,
      revoked: { apiKeys: 2, accessTokens: 1, identities: 1, passkeys: 3, authenticators: 1 },
      keptKeys: 0,
    }),
  verifyAddress: (locale) => verifyAddressLetter(locale, url),
  addressChange: (locale) => addressChangeLetter(locale, url),
  addressChangeNotice: (locale) => addressChangeNotice(locale, hostile, '192.0.2.1'),
  addressChanged: (locale) => addressChangedLetter(locale, hostile),
  tokenReused: (locale) => tokenReusedLetter(locale, '192.0.2.1'),
  keyMade: (locale) => accountChangedLetter(locale, { kind: 'api_key', name: hostile }, '192.0.2.1'),
  identityLinked: (locale) => accountChangedLetter(locale, { kind: 'identity_linked', name: hostile }, '192.0.2.1'),
  secondFactorTried: (locale) => secondFactorTriedLetter(locale, 10, '192.0.2.1'),
  secondFactorReset: (locale) => secondFactorResetLetter(locale),
  accountDeleted: (locale) => accountDeletedLetter(locale),
};

for (const [name, make] of Object.entries(letters)) {
  t.test(`${name} says the same in both languages, as text and as HTML`, (t) => {
    const [en, ru] = [make('en'), make('ru')];
    t.equal(en.paragraphs.length, ru.paragraphs.length);
    t.equal(en.notes?.length, ru.notes?.length);
    t.equal(en.action?.url, ru.action?.url);
    t.match(ru.subject, /[а-яё]/i);
    t.notMatch([en.subject, ...en.paragraphs, ...(en.notes ?? [])].join(), /[а-яё]/i);
    for (const letter of [en, ru]) {
      const { text, html, subject } = renderLetter(letter);
      t.ok(subject.length <= 60, 'a subject is one short line');
      t.match(html, `<html lang="${letter.locale}">`);
      t.notMatch(html, '<img', 'nothing that was given is markup');
      t.equal(html.includes('href='), letter.action !== undefined);
      for (const paragraph of [...letter.paragraphs, ...(letter.notes ?? [])]) t.ok(text.includes(paragraph));
      t.ok(letter.action === undefined || text.includes(letter.action.url));
    }
    t.end();
  });
}
