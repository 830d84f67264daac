import fc from '@parallax/testkit/fast-check';
import t from 'tap';
import { attachment, fileName } from './attachment.ts';

/** Code units of any kind, halves of pairs among them. */
const anyText = fc.uint16Array({ maxLength: 200 }).map((units) => String.fromCharCode(...units));

void t.test('a plain name stands as it is, another one in two forms', async (t) => {
  t.equal(attachment('sla Shop.csv'), 'attachment; filename="sla Shop.csv"');
  t.equal(
    attachment('Über Café.pdf'),
    `attachment; filename="Uber Cafe.pdf"; filename*=UTF-8''%C3%9Cber%20Caf%C3%A9.pdf`,
  );
  t.equal(
    attachment('Магазин.csv'),
    `attachment; filename="_.csv"; filename*=UTF-8''%D0%9C%D0%B0%D0%B3%D0%B0%D0%B7%D0%B8%D0%BD.csv`,
  );
  t.match(attachment("it's (1)*é.csv"), /filename\*=UTF-8''it%27s%20%281%29-%C3%A9\.csv$/);
});

void t.test('a name leaves no folder, no quotes and no tricks', async (t) => {
  t.equal(fileName('../../etc/passwd.csv'), '-..-etc-passwd.csv');
  t.equal(fileName('a"b\\c\r\nSet-Cookie: x.pdf'), 'a-b-c-Set-Cookie- x.pdf');
  t.equal(fileName('invoice\u202Efdp.exe.pdf'), 'invoice-fdp.exe.pdf');
  t.equal(fileName('...csv'), 'file.csv');
  t.equal(fileName(''), 'file');
  t.equal(Array.from(fileName(`${'😀'.repeat(300)}.csv`)).length, 154);
});

void t.test('no other form of a quotation mark or a separator becomes one', async (t) => {
  t.match(attachment('a＂b／c＼d％.csv'), /^attachment; filename="a-b-c-d-.csv"; filename\*=UTF-8''a%EF%BC%82b/);
});

void t.test('whatever the name, the header is one line of ASCII that quotes nothing twice', async () => {
  fc.assert(
    fc.property(
      anyText,
      (name) =>
        /^attachment; filename="[^"\\]{1,200}"(; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+)?$/.test(
          attachment(`${name}.csv`),
        ) && /^[\x20-\x7e]+$/.test(attachment(`${name}.csv`)),
    ),
  );
});
