import type { Client, SFTPWrapper, Stats } from 'ssh2';
import { z } from 'zod';
import { lazily } from './lazily.ts';
import { conversation } from './net/conversation.ts';
import type { Session } from './net/session.ts';
import { loadSsh, speakSsh } from './ssh/connection.ts';
import { sshConversation, sshFields, sshLoginIsWhole } from './ssh/settings.ts';

/** Settings of `sftp`: without a login only the handshake is checked. */
export const sftpSettings = lazily(() =>
  z
    .strictObject({
      ...sshFields(),
      /** A file or directory that has to be there. */
      path: z
        .string()
        .min(1)
        .max(1024)
        .regex(/^\P{Cc}*$/u, 'A path has no control characters.')
        .optional(),
    })
    .refine(...sshLoginIsWhole)
    .refine((all) => all.path === undefined || all.username !== undefined, {
      message: 'A path can be looked for after a login only.',
      path: ['path'],
    }),
);

/** The file transfer of SSH: what `ssh` checks, then the subsystem, and a path in it. Reads and writes no file. */
export const sftp = conversation({
  ...sshConversation,
  type: 'sftp',
  summary: 'An SFTP server: host key, login, subsystem, a path',
  reference: {
    targets: ['files.example.com', 'sftp://files.example.com:2222'],
    settings: { username: 'probe', password: '…' },
    phases: ['dns', 'connect', 'first_byte', 'transfer'],
    details: {
      banner: 'What the server says first.',
      key_exchange: 'Algorithm of the key exchange.',
      cipher: 'Cipher towards the server.',
      host_key_type: 'Kind of the host key.',
      host_key_fingerprint: 'SHA-256 of the host key.',
      path_type: 'file or directory.',
      path_bytes: 'Size of the path.',
    },
  },
  settings: sftpSettings,
  prepare: loadSsh,
  talk: (session, settings) =>
    speakSsh(session, settings, async (client, waitFor) => {
      if (settings.username !== undefined) await lookInto(client, session, settings.path, waitFor);
    }),
});

async function lookInto(
  client: Client,
  session: Session,
  path: string | undefined,
  waitFor: (what: string) => void,
): Promise<void> {
  waitFor('an answer about the subsystem');
  const files = await answerOf<SFTPWrapper>((done) => client.sftp(done));
  if (files instanceof Error) return session.fail('sftp_unavailable', 'The server does not open the subsystem sftp.');
  files.on('error', () => undefined);
  if (path === undefined) return;
  waitFor('an answer about the path');
  const found = await answerOf<Partial<Stats> & Pick<Stats, 'isDirectory'>>((done) => files.stat(path, done));
  if (found instanceof Error)
    return session.fail('sftp_path', `The path is not there: "${session.show(found.message)}".`);
  // Each attribute may be left out by the server (draft-ietf-secsh-filexfer-02, 5).
  if (found.mode !== undefined) session.note('path_type', found.isDirectory() ? 'directory' : 'file');
  if (found.size !== undefined) session.note('path_bytes', found.size);
}

/** What the library answers with, or its error; it throws at once where the connection is gone. */
function answerOf<Value>(
  ask: (done: (error: Error | undefined, value: Value) => void) => void,
): Promise<Value | Error> {
  return new Promise((resolve) => {
    try {
      ask((error, value) => resolve(error ?? value));
    } catch (error) {
      resolve(error instanceof Error ? error : new Error('The connection was closed.'));
    }
  });
}
