import { z } from 'zod';
import { lazily } from './lazily.ts';
import { command, hear, login, refused } from './ftp/conversation.ts';
import { list } from './ftp/listing.ts';
import { addressFields, bannerFields, loginFields, loginIsWhole, tlsFields } from './net/connection-settings.ts';
import { conversation, readAddress } from './net/conversation.ts';
import { textOf } from './net/replies.ts';
import type { Session } from './net/session.ts';

const ftpFields = lazily(() => ({
  ...addressFields(),
  ...bannerFields(),
  ...loginFields(),
  /** A directory whose names are fetched over a passive data connection. */
  list_directory: z
    .string()
    .max(1024)
    .regex(/^[^-\p{Cc}]\P{Cc}*$/u, 'A directory does not begin with - and has no control characters.')
    .optional(),
}));

const listingNeedsLogin = [
  (all: { readonly username?: string | undefined; readonly list_directory?: string | undefined }) =>
    all.list_directory === undefined || all.username !== undefined,
  { message: 'A directory can be listed after a login only.', path: ['list_directory'] as PropertyKey[] },
] as const;

/** Settings of `ftp`, which sends everything in the clear, the password too. */
export const ftpSettings = lazily(() =>
  z
    .strictObject(ftpFields())
    .refine(...loginIsWhole)
    .refine(...listingNeedsLogin),
);
export type FtpSettings = z.infer<ReturnType<typeof ftpSettings>>;

/** Settings of `ftps`. */
export const ftpsSettings = lazily(() =>
  z
    .strictObject({
      ...ftpFields(),
      ...tlsFields(),
      /**
       * When the handshake comes. `implicit`: from the start. `starttls`: after AUTH TLS (RFC 4217). `auto`: from the start on port 990, which
       * is the port where none is given, else after AUTH TLS.
       */
      tls: z.enum(['auto', 'starttls', 'implicit']).default('auto'),
    })
    .refine(...loginIsWhole)
    .refine(...listingNeedsLogin),
);
export type FtpsSettings = z.infer<ReturnType<typeof ftpsSettings>>;

const explicit = { plain: { ftps: 21, ftpes: 21 }, implicitPorts: [990] };
const shared = { peer: 'an FTP server', codes: 'ftp_protocol' } as const;

/** A file server (RFC 959): greeting, login, a listing. Fetches and stores no file. */
export const ftp = conversation({
  ...shared,
  type: 'ftp',
  summary: 'An FTP server: greeting, login, a directory listing',
  reference: {
    targets: ['ftp.example.com', 'ftp://ftp.example.com:2121'],
    phases: ['dns', 'connect', 'first_byte', 'transfer'],
    details: {
      banner: 'What the server says first.',
      login: 'How the login was done.',
      names: 'Entries of the folder.',
      truncated: 'Whether the listing was longer than what is read.',
    },
  },
  settings: ftpSettings,
  target: { plain: { ftp: 21 } },
  talk,
});

/** The same over TLS. */
export const ftps = conversation({
  ...shared,
  type: 'ftps',
  summary: 'An FTP server over TLS: greeting, login, a directory listing',
  reference: {
    targets: ['ftp.example.com', 'ftpes://ftp.example.com'],
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      banner: 'What the server says first.',
      login: 'How the login was done.',
      names: 'Entries of the folder.',
      truncated: 'Whether the listing was longer than what is read.',
    },
  },
  settings: ftpsSettings,
  target: (target, { tls }) =>
    readAddress(target.url, tls === 'starttls' ? explicit : { ...explicit, plain: { ftps: 990, ftpes: 21 } }, tls),
  talk,
});

async function talk(session: Session, settings: FtpSettings): Promise<void> {
  await session.open();
  const greeting = await hear(session, 'its greeting');
  if (greeting.code !== 220) refused(session, 'does not serve', greeting);
  session.greeted(greeting.lines.join(' '));
  session.goodbye = 'QUIT';
  if (session.tls !== 'none' && !session.isSecure) await secure(session);
  if (settings.username !== undefined) await login(session, settings.username, settings.password ?? '');
  if (settings.list_directory !== undefined) await list(session, settings.list_directory);
}

async function secure(session: Session): Promise<void> {
  const answer = await command(session, 'AUTH TLS');
  if (answer.code !== 234) {
    session.fail('starttls_refused', `The server refused AUTH TLS: "${session.show(textOf(answer))}".`);
  }
  await session.startTls({ code: 'starttls_protocol' });
}
