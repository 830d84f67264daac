import { quietLog } from '@parallax/testkit';
import t from 'tap';
import { mailConsumer, sendDue } from '../../platform/mail/job.ts';
import { smtpMailer } from '../../platform/mail/mailer.ts';
import { smtpOptions } from '../../platform/mail/smtp-options.ts';
import { mailServer } from '../../platform/mail/testing/mail-server.ts';
import { workOnce } from '../../platform/outbox/worker.ts';
import { testApi } from '../testing.ts';
import { accountsCapability } from './index.ts';

const password = 'a rather long phrase 7';

t.test('an account comes to its address and to a new password by mails over SMTP', async (t) => {
  const server = await mailServer(t);
  const from = { name: 'Parallax', address: 'noreply@monitor.example' };
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), from);
  const api = await testApi(t, { context: { mailer, publicUrl: 'https://monitor.example' } });
  const deliver = async (): Promise<void> => {
    while ((await workOnce(api.context, [...(accountsCapability.consumers ?? []), mailConsumer])) > 0);
    while ((await sendDue(api.context, quietLog)) > 0);
  };
  const linkIn = (index: number, page: string): string => {
    const { text = '', html = '' } = server.taken[index]?.parsed ?? {};
    const link = new RegExp(`https://monitor\\.example/auth/${page}#token=([\\w-]{43})`).exec(text);
    t.match(html, link?.[0] ?? 'no link', 'the HTML has the same link');
    return link?.[1] ?? '';
  };
  const ada = await api.account('ada@example.com');
  await deliver();
  t.match(server.taken, [{ to: [ada.email], from: from.address, parsed: { subject: 'Confirm your mail address' } }]);
  const confirmed = await api.call('POST', '/api/v1/auth/confirm-email', {
    body: { token: linkIn(0, 'confirm-email') },
  });
  t.equal(confirmed.status, 200);
  await api.call('PATCH', '/api/v1/auth/me/locale', { token: ada.accessToken, body: { locale: 'ru' } });
  await api.call('POST', '/api/v1/auth/forgot-password', { body: { email: ada.email } });
  await api.call('POST', '/api/v1/auth/forgot-password', { body: { email: 'nobody@example.com' } });
  await deliver();
  t.equal(server.taken.length, 2, 'nobody gets no mail');
  t.match(server.taken[1]?.parsed, { subject: 'Новый пароль', to: [{ address: ada.email }] });
  const reset = await api.call('POST', '/api/v1/auth/reset-password', {
    body: { token: linkIn(1, 'reset-password'), new_password: 'another long phrase 8' },
  });
  t.equal(reset.status, 200);
  await deliver();
  t.match(server.taken[2]?.parsed, { subject: 'Пароль изменён' });
  t.notMatch(server.taken[2]?.parsed.text, 'another long phrase 8', 'no password in a mail');
  const login = (given: string) =>
    api.call('POST', '/api/v1/auth/login', { body: { email: ada.email, password: given } });
  t.equal((await login(password)).status, 401);
  t.equal((await login('another long phrase 8')).status, 200);
});
