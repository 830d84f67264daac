import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { addressFields, bannerFields, loginFields } from '../net/connection-settings.ts';

/** Settings of `ssh` and, with more, of `sftp`. Without a user name the handshake and the key of the host are all that is checked. */
export const sshFields = lazily(() => ({
  ...addressFields(),
  ...bannerFields(),
  ...loginFields(),
  /** The key to log in with, in the form of OpenSSH or PEM. */
  private_key: z
    .string()
    .max(32 * 1024)
    .regex(/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'A private key is written in the form of OpenSSH or PEM.')
    .optional(),
  /** What the key is encrypted with. */
  passphrase: z.string().max(1024).optional(),
  /** Keys that the host may show, as `ssh-keygen -l` writes them: SHA256 and 43 characters of base64. Empty: any key. */
  host_key_fingerprints: z
    .array(z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}=?$/, 'A fingerprint is SHA256: and 43 characters of base64.'))
    .max(16)
    .default([]),
}));

/** What `ssh` and `sftp` have in common as conversations. */
export const sshConversation = {
  peer: 'an SSH server',
  codes: 'ssh_protocol',
  secretFields: ['private_key', 'passphrase'],
  target: { plain: { ssh: 22, sftp: 22 } },
} as const;

type Login = {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly private_key?: string | undefined;
  readonly passphrase?: string | undefined;
};

/** A user name comes with a password or a key, and a passphrase with a key. */
export const sshLoginIsWhole = [
  (all: Login) =>
    (all.username === undefined) === (all.password === undefined && all.private_key === undefined) &&
    (all.passphrase === undefined || all.private_key !== undefined),
  {
    message: 'Give a user name with a password or a private key, or none of them; a passphrase belongs to a key.',
    path: ['username'] as PropertyKey[],
  },
] as const;

export type SshSettings = Login & { readonly host_key_fingerprints: readonly string[] };
