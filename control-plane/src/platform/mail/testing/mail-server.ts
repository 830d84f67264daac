import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { callbackify } from 'node:util';
import type { TestContext } from '@parallax/testkit';
import PostalMime from 'postal-mime';
import type { Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server';

/** A mail as the server took it. */
export type TakenMail = {
  /** Of the envelope. */
  readonly from: string;
  readonly to: readonly string[];
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
  readonly raw: Buffer;
  readonly parsed: Email;
};

export type MailServer = {
  readonly port: number;
  readonly taken: readonly TakenMail[];
  /** Waits until so many mails were taken. */
  readonly arrived: (count: number) => Promise<readonly TakenMail[]>;
};

/** For tests: a real SMTP server on loopback that takes what `options` let through. */
export async function mailServer(t: TestContext, options: SMTPServerOptions = {}): Promise<MailServer> {
  const taken: TakenMail[] = [];
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.key === undefined ? ['STARTTLS'] : [],
    onData: callbackify(async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
      const raw = await buffer(stream);
      const { mailFrom, rcptTo } = session.envelope;
      taken.push({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        isEncrypted: session.secure,
        user: typeof session.user === 'string' ? session.user : undefined,
        raw,
        parsed: await PostalMime.parse(raw),
      });
      for (const wake of waiting.splice(0)) wake();
    }),
    ...options,
  });
  // Clients that break off are what some tests are about.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)));
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    taken,
    arrived: async (count) => {
      while (taken.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
      return taken;
    },
  };
}
