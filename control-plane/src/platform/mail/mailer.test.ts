import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { keptLog, testAuthority } from '@parallax/testkit';
import PostalMime from 'postal-mime';
import t from 'tap';
import { createMailer } from './create-mailer.ts';
import { renderLetter } from './letter.ts';
import { MailRefusedError, smtpMailer } from './mailer.ts';
import { smtpOptions } from './smtp-options.ts';
import { mailServer } from './testing/mail-server.ts';

const from = { name: 'Parallax, "Nord"', address: 'noreply@monitor.example' };
const letter = renderLetter({
  locale: 'ru',
  subject: 'Новый пароль',
  paragraphs: ['Здравствуйте, <b>Ада</b> & Co.'],
  action: { label: 'Задать', url: 'https://monitor.example/auth/reset-password#token=a&b="c"' },
  notes: ['Если это были не вы, ничего не делайте.'],
});
const mail = { to: 'ada@example.com', ...letter };
const id = '0b7e6b0c-5a0f-4d56-8a7e-4f6f0c8f4a11';

t.test('a mail arrives as text and HTML that say the same, from one sender to one reader', async (t) => {
  const server = await mailServer(t);
  await smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), from).send(mail, id);
  const [taken] = server.taken;
  t.equal(taken?.from, from.address);
  t.same(taken?.to, ['ada@example.com']);
  t.same(taken?.parsed.from, from);
  t.same(taken?.parsed.to, [{ name: '', address: 'ada@example.com' }]);
  t.equal(taken?.parsed.subject, 'Новый пароль');
  t.equal(taken?.parsed.messageId, `<${id}@monitor.example>`);
  const header = (name: string) => taken?.parsed.headers.find(({ key }) => key === name)?.value;
  t.equal(header('auto-submitted'), 'auto-generated');
  t.match(header('content-type'), /^multipart\/alternative;/);
  t.equal(taken?.parsed.attachments.length, 0);
  t.equal(taken?.parsed.text?.trimEnd(), letter.text.trimEnd());
  t.equal(taken?.parsed.html?.trimEnd(), letter.html.trimEnd());
  t.match(letter.text, 'https://monitor.example/auth/reset-password#token=a&b="c"');
  t.match(letter.html, 'lang="ru"');
  t.match(letter.html, '&lt;b&gt;Ада&lt;/b&gt; &amp; Co.', 'text stays text');
  t.equal(
    letter.html.match(/href="https:[^"]*#token=a&amp;b=&quot;c&quot;"/g)?.length,
    2,
    'a button and a link as text',
  );
  t.notMatch(letter.html, /<style|<script|<img|src=/, 'nothing that mail programs drop or ask about');
});

t.test('a server with STARTTLS and a password gets both, and its certificate is judged', async (t) => {
  const authority = await testAuthority();
  const foreign = await testAuthority('Somebody else');
  const folder = await mkdtemp('/tmp/parallax-mail-');
  t.teardown(() => rm(folder, { recursive: true }));
  await writeFile(`${folder}/ca.pem`, authority.certificatePem);
  await writeFile(`${folder}/foreign.pem`, foreign.certificatePem);
  const { certificatePem: cert, keyPem: key } = await authority.issue({ names: ['localhost', '127.0.0.1'] });
  const server = await mailServer(t, {
    key,
    cert,
    authOptional: false,
    onAuth: ({ username, password }, _session, done) => {
      if (password === 'pass:wörd@1') done(null, { user: username });
      else done(new Error('wrong'));
    },
  });
  const at = (user: string, query: string) =>
    smtpMailer(smtpOptions(`smtp://${user}127.0.0.1:${server.port}?${query}`), from);
  const user = 'app:pass%3Aw%C3%B6rd%401@';
  await at(user, `tls=required&ca=${folder}/ca.pem`).send(mail, id);
  t.match(server.taken, [{ isEncrypted: true, user: 'app' }]);
  await t.rejects(at(user, `tls=required&ca=${folder}/foreign.pem`).send(mail, id), /certificate/i);
  const refused = await at('app:wrong@', `ca=${folder}/ca.pem`)
    .send(mail, id)
    .catch((error: unknown) => error);
  t.type(refused, Error);
  t.notOk(refused instanceof MailRefusedError, 'an operator can mend a password, so it is tried again');
  t.notMatch(String(refused), 'wrong@', 'and is not repeated');
  t.equal(server.taken.length, 1);
});

t.test('TLS from the start', async (t) => {
  const authority = await testAuthority();
  const { certificatePem: cert, keyPem: key } = await authority.issue({ names: ['127.0.0.1'] });
  const server = await mailServer(t, { key, cert, secure: true });
  await smtpMailer(smtpOptions(`smtps://127.0.0.1:${server.port}`), from).send(mail, id);
  t.match(server.taken, [{ isEncrypted: true }]);
});

t.test('a server that should speak TLS and does not gets nothing', async (t) => {
  const server = await mailServer(t);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}?tls=required`), from);
  await t.rejects(mailer.send(mail, id), /STARTTLS/i);
  t.equal(server.taken.length, 0);
});

t.test('a reader that the server refuses is not tried again, one that it puts off is', async (t) => {
  const server = await mailServer(t, {
    onRcptTo: ({ address }, _session, done) => {
      const code = address.startsWith('gone') ? 550 : 451;
      done(Object.assign(new Error('no'), { responseCode: code }));
    },
  });
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), from);
  const failure = (to: string) => mailer.send({ ...mail, to }, id).catch((error: unknown) => error);
  t.type(await failure('gone@example.com'), MailRefusedError);
  t.notOk((await failure('later@example.com')) instanceof MailRefusedError);
  t.type(await failure('later@example.com'), Error);
});

t.test('nobody who listens is an error soon', async (t) => {
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  const { port } = nobody.address() as AddressInfo;
  await new Promise((resolve) => nobody.close(resolve));
  await t.rejects(smtpMailer(smtpOptions(`smtp://127.0.0.1:${port}`), from).send(mail, id), /the mail server: /);
});

t.test('a hostile address or subject adds no header and no reader', async (t) => {
  const server = await mailServer(t);
  const mailer = smtpMailer(smtpOptions(`smtp://127.0.0.1:${server.port}`), from);
  for (const to of [
    'a@example.com\r\nBcc: eve@example.com',
    'a@example.com\nRCPT TO:<eve@example.com>',
    'a@example.com, eve@example.com',
    '"a b"@example.com',
    '<a@example.com>',
    'a@example.com\u0000',
  ]) {
    await t.rejects(mailer.send({ ...mail, to }, id), { name: 'MailAddressError' }, JSON.stringify(to));
  }
  await mailer.send({ ...mail, subject: 'Hello\r\nBcc: eve@example.com\u2028there' }, id);
  t.equal(server.taken.length, 1);
  t.equal(server.taken[0]?.parsed.subject, 'Hello Bcc: eve@example.com there');
  t.equal(server.taken[0]?.parsed.bcc, undefined);
  t.same(server.taken[0]?.to, ['ada@example.com']);
});

t.test('without a server a mail becomes a file for its operator, and a line without what is secret', async (t) => {
  const dataDir = await mkdtemp('/tmp/parallax-mail-');
  t.teardown(() => rm(dataDir, { recursive: true }));
  const { log, lines } = keptLog('info');
  const mailer = createMailer({}, dataDir, log);
  await mailer.send(mail, id);
  const folder = path.join(dataDir, 'mails');
  const [file = ''] = await readdir(folder);
  const place = path.join(folder, file);
  t.match(file, /^\d{8}T\d{6}\.\d{3}Z-0b7e.*\.eml$/);
  t.equal((await stat(place)).mode & 0o777, 0o600);
  t.equal((await stat(folder)).mode & 0o777, 0o700);
  const parsed = await PostalMime.parse(await readFile(place));
  t.match(parsed, { subject: 'Новый пароль', from: { address: 'parallax@localhost' } });
  t.match(parsed.text, '#token=a&b=');
  t.match(JSON.stringify(lines), 'a…@example.com');
  t.match(JSON.stringify(lines), place);
  t.notMatch(JSON.stringify(lines), 'token=');
  await utimes(place, new Date(0), new Date(0));
  await mailer.send(mail, '5d0a7a52-1f0b-4c7d-9a0e-7e7f2f0f9e55');
  t.match(await readdir(folder), [/5d0a.*\.eml$/], 'what is old goes');
});

t.test('settings that are not understood say what to do', (t) => {
  const { log } = keptLog('info');
  const make = (smtpUrl: string, mailFrom?: string) => () => createMailer({ smtpUrl, mailFrom }, '/nowhere', log);
  t.throws(make('smtp://mail.example'), /PARALLAX_MAIL_FROM/);
  t.throws(make('smtp://mail.example', 'nobody'), /PARALLAX_MAIL_FROM/);
  t.throws(make('smtp://mail.example', 'A <a@b.example>\r\nBcc: c@d.example'), /PARALLAX_MAIL_FROM/);
  t.throws(make('smtp://mail.example?tls=maybe', 'a@b.example'), /required, offered or none/);
  t.throws(make('smtp://mail.example?rejectUnauthorized=false', 'a@b.example'), /known are tls and ca/);
  t.throws(make('smtps://mail.example?tls=none', 'a@b.example'), /TLS from the start/);
  t.throws(make('smtp://u:%zz@mail.example', 'a@b.example'), /percent-encoded/);
  t.throws(make('smtp://', 'a@b.example'), /smtp:\/\/host:port/);
  const secret = (() => {
    try {
      make('smtp://u:hunter2@mail.example?x=1', 'a@b.example')();
    } catch (error) {
      return String(error);
    }
    return '';
  })();
  t.notMatch(secret, 'hunter2');
  t.same(smtpOptions('smtp://mail.example'), {
    host: 'mail.example',
    port: 587,
    secure: false,
    startTls: 'required',
    verifies: true,
    caFile: undefined,
    user: undefined,
    password: undefined,
  });
  t.match(smtpOptions('smtps://u:p@mail.example'), { port: 465, secure: true, user: 'u', password: 'p' });
  t.match(smtpOptions('smtp://mail.example:25?tls=none'), { port: 25, startTls: 'never' });
  t.match(smtpOptions('smtp://[::1]:2525'), { host: '::1', startTls: 'offered', verifies: false });
  t.end();
});
