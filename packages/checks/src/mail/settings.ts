import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { lazily } from '../lazily.ts';
import { addressFields, bannerFields, loginFields, tlsFields } from '../net/connection-settings.ts';
import type { Session } from '../net/session.ts';

/** Settings of `smtp`, `imap` and `pop3`. */
export const mailFields = lazily(() => ({
  ...addressFields(),
  ...bannerFields(),
  ...tlsFields(),
  ...loginFields(),
  /**
   * How the connection is secured. `auto`: from the start on the ports and with the schemes that mean it, else by STARTTLS where the server
   * offers it, and compulsory before a password. `starttls`: by STARTTLS or not at all. `implicit`: from the start. `none` says even a
   * password in the clear.
   */
  tls: z.enum(['none', 'auto', 'starttls', 'implicit']).default('auto'),
}));

/**
 * Secures a conversation that began in the clear, as far as is asked for and offered; gives whether it did. Never goes on to a login in the
 * clear unless the settings say so: who sits between could have taken the offer away.
 */
export async function secure(
  session: Session,
  { username }: { readonly username?: string | undefined },
  isOffered: boolean,
  ask: () => Promise<{ readonly agreed: boolean; readonly text: string }>,
): Promise<boolean> {
  if (session.isSecure || session.tls === 'none') return false;
  if (!isOffered) {
    if (session.tls === 'starttls') session.fail('starttls_refused', 'The server does not offer STARTTLS.');
    if (username !== undefined) {
      session.fail(
        'mail_tls_required',
        'The server does not offer STARTTLS, so the password was not sent; set tls to none to send it in the clear.',
      );
    }
    return false;
  }
  const { agreed, text } = await ask();
  if (!agreed) session.fail('starttls_refused', `The server refused STARTTLS: "${session.show(text)}".`);
  await session.startTls({ code: 'starttls_protocol' });
  return true;
}

/** What a client without a name calls itself towards SMTP: its address (RFC 5321, 4.1.3), which no server has to look up. */
export function addressLiteral({ socket }: Session): string {
  const { localAddress = '127.0.0.1' } = socket;
  return isIPv6(localAddress) ? `[IPv6:${localAddress}]` : `[${localAddress}]`;
}

/** The message of SASL PLAIN (RFC 4616) in base64. */
export function plainMessage(username: string, password: string): string {
  return base64(`\0${username}\0${password}`);
}

export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** What a login sends beside the password itself, for redaction. */
export function mailSecrets(settings: {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}): readonly (string | undefined)[] {
  const { username = '', password } = settings;
  return password === undefined ? [] : [plainMessage(username, password)];
}
