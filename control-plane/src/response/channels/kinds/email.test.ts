import t from 'tap';
import { smtpMailer } from '../../../platform/mail/mailer.ts';
import { smtpOptions } from '../../../platform/mail/smtp-options.ts';
import { mailServer } from '../../../platform/mail/testing/mail-server.ts';
import type { Message } from '../../messages/message.ts';
import { hostileMessage, hostileTexts, longMessage, resolvedMessage, sampleMessage } from '../testing/messages.ts';
import { email as standIn, mailProblems } from '../testing/stand-ins/email.ts';
import { tryChannel } from '../testing/try-channel.ts';
import { email } from './email.ts';

const from = { name: 'Parallax', address: 'alerts@monitor.example.com' };
const unsubscribe = {
  purpose: 'unsubscribe',
  label: 'No more alerts to this address',
  url: 'https://monitor.example.com/alerts/mail-target/abc',
} as const;

const messages: readonly (readonly [string, Message])[] = [
  ['as usual', sampleMessage()],
  ['resolved', resolvedMessage()],
  ['with a way out', sampleMessage({ links: [...sampleMessage().links, unsubscribe] })],
  [
    'in Russian',
    sampleMessage({ locale: 'ru', title: 'Магазин недоступен', summary: 'Ни один пробник не получил ответа.' }),
  ],
  [
    'with nothing but a title',
    sampleMessage({ summary: '', facts: [], sections: [], links: [], subjects: [], subjectCount: 0 }),
  ],
  ...hostileTexts.map((text) => [text, hostileMessage(text)] as const),
  ...['a', 'я', '👩‍👩‍👧‍👦', '<'].map((character) => [`long ${character}`, longMessage(character)] as const),
];

void t.test('a mail as its reader and the programs on the way see it', async (t) => {
  const server = await mailServer(t);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), from);
  for (const [index, [name, message]] of messages.entries()) {
    const sent = await tryChannel(email, { settings: standIn.settings(''), target: standIn.target, message });
    t.equal(sent.mails.length, 1, name);
    for (const mail of sent.mails) await mailer.send(mail, `mail-${index}`);
    const taken = server.taken.at(-1);
    t.same(taken === undefined ? ['nothing arrived'] : mailProblems(taken, message), [], name);
  }
  t.equal(server.taken.length, messages.length);
});
