import { processorMs } from '@parallax/testkit/time-taken';
import t from 'tap';
import { whyTooCommon } from './password-rule.ts';

const common = [
  'password',
  'Password1',
  'P@ssw0rd',
  'passw0rd123!',
  'password2024',
  '12345678',
  '123456789',
  '1234567890',
  '87654321',
  '11111111',
  '00000000',
  'abababab',
  'abcabcabc',
  '12341234',
  'qwertyuiop',
  'qwerty123',
  'Qwerty123!',
  'asdfghjkl',
  '1q2w3e4r',
  '1qaz2wsx',
  'zaq12wsx',
  'qazwsxedc',
  'iloveyou',
  'ILoveYou2',
  'letmein123',
  'trustno1',
  'welcome1',
  'admin123',
  'football',
  'baseball1',
  'sunshine',
  'princess1',
  'superman',
  'starwars',
  'michael1',
  'jennifer',
  'monkey123',
  'dragon12',
  'liverpool',
  'computer',
  'changeme',
  'abcd1234',
  'a1b2c3d4',
  '19840512',
  '05121984',
  '12-05-1984',
  'monkeymonkey',
  'batmansuperman1',
  '987654321',
  '123qweasd',
  'йцукенгш',
  'ada.lovelace1815',
  'ada.lovelace@example.com',
];
const uncommon = [
  'a rather long phrase 7',
  'correct horse battery staple',
  'tR4v&Lkq',
  'zephyr-quartz-41',
  '49281736',
  'Grün!wörd 3',
  'пятьсинихслонов',
  'dragonfly-lantern',
  'monkey puzzle tree',
  'qwxkzjvb',
];

void t.test('what guessing begins with is refused, whatever is put around it', async (t) => {
  for (const password of common) t.type(whyTooCommon(password, 'ada.lovelace@example.com'), 'string', password);
});

void t.test('passwords that no list holds are taken', async (t) => {
  for (const password of uncommon) t.equal(whyTooCommon(password, 'ada.lovelace@example.com'), undefined, password);
});

void t.test('the longest password is judged at once', async (t) => {
  const took = await processorMs(() => {
    whyTooCommon('abc'.repeat(341), 'ada@example.com');
    whyTooCommon('qwertyuiop1234567890'.repeat(51), 'ada@example.com');
  });
  t.ok(took < 200, 'within 200 ms');
});
