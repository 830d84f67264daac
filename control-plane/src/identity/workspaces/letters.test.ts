import t from 'tap';
import { renderLetter } from '../../platform/mail/letter.ts';
import { harmlessName, inviteLetter, shownName, transferLetter } from './letters.ts';

const inviter = { id: 17, display_name: null };

void t.test('names that mail programs would make links of, or that turn the text around, are not shown', async (t) => {
  const harmful = [
    'https://evil.example/win',
    'visit evil.example',
    'www.evil',
    'evil .com',
    'mail me@evil',
    'казино.рф',
    'abc\u202Edef',
    'a\u200Bb',
    ' ',
  ];
  for (const name of harmful) t.equal(harmlessName(name), undefined, JSON.stringify(name));
  for (const name of ['Production', 'Команда 7', 'v2.1', 'A & B <script>']) t.equal(harmlessName(name), name);
  t.equal(harmlessName('x'.repeat(200))?.length, 60);
  t.equal(shownName({ id: 17, display_name: 'win at evil.example' }, 'en'), 'User 17');
  t.equal(shownName({ id: 17, display_name: 'Ada' }, 'ru'), 'Ada');
});

void t.test('an invitation says who, where, what for, how long, and carries the link as it is', async (t) => {
  for (const locale of ['en', 'ru'] as const) {
    for (const role of ['editor', 'viewer'] as const) {
      const url = 'https://parallax.example/invites#token';
      const workspace = '<b>Production</b>';
      const mail = renderLetter(inviteLetter(locale, { inviter, workspace, role, url, days: 14 }));
      t.match(mail.text, url);
      t.match(mail.text, '17');
      t.match(mail.text, '14');
      t.match(mail.subject, workspace);
      t.notOk(mail.html.includes('<b>'), 'a name is text');
    }
  }
  const hidden = inviteLetter('en', { inviter, workspace: 'evil.example', role: 'viewer', url: 'u', days: 14 });
  t.equal(hidden.subject, 'Invitation to a workspace');
});

void t.test('a transfer names the monitors that the plan would refuse, when there are some', async (t) => {
  const transfer = { formerOwner: inviter, workspace: 'Production', belowMinimum: 0, minimumIntervalSeconds: 60 };
  for (const locale of ['en', 'ru'] as const) {
    t.equal(transferLetter(locale, transfer).notes, undefined);
    t.match(transferLetter(locale, { ...transfer, belowMinimum: 3 }).notes?.join(), /60.*3/);
  }
});
