import { z } from 'zod';
import { lazily } from './lazily.ts';
import { addressFields, loginIsWhole } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { locate, named } from './net/dial.ts';
import { type HostPort, parseHost, parseHostPort } from './net/host.ts';
import { askToConnect, replyMeaning, shakeHands } from './net/proxy/socks-words.ts';
import type { Session } from './net/session.ts';
import { Ended } from './net/talk.ts';

const credential = lazily(() =>
  z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= 255, 'A name or password of SOCKS has at most 255 bytes.'),
);
const onward = { schemes: {}, defaultPort: undefined };

/** Settings of `socks5`. */
const socks5Settings = lazily(() =>
  z
    .strictObject({
      /** With a user name only this way of signing in is offered, so that a proxy that lets everybody in is noticed. */
      username: credential().optional(),
      /** The password of the user. */
      password: credential().optional(),
      /** `host:port` that the proxy is asked to connect to; absent: the handshake is enough. */
      connect_to: z
        .string()
        .max(300)
        .refine((text) => typeof parseHostPort(text, onward) !== 'string', 'Where to connect is written as host:port.')
        .optional(),
      /**
       * Who looks up the name in `connect_to`. `probe`: the probe does, its address policy judges the address, and the proxy gets the
       * address. `proxy`: the proxy gets the name, which the policy cannot judge; addresses are judged all the same.
       */
      resolve_at: z.enum(['probe', 'proxy']).default('probe'),
      ...addressFields(),
    })
    .refine(...loginIsWhole),
);
export type Socks5Settings = z.infer<ReturnType<typeof socks5Settings>>;

/** A SOCKS5 proxy (RFC 1928, RFC 1929): it shakes hands, signs in, and connects where that is asked for. */
export const socks5 = conversation({
  type: 'socks5',
  summary: 'A SOCKS5 proxy: handshake, sign-in, connection through it',
  reference: {
    targets: ['proxy.example.com:1080', 'socks5://proxy.example.com'],
    settings: { connect_to: 'www.example.com:443' },
    phases: ['dns', 'connect', 'first_byte', 'transfer'],
    details: { method: 'How the client signed in.', connected_to: 'Where the proxy connected to.' },
  },
  settings: socks5Settings,
  peer: 'a SOCKS5 proxy',
  codes: 'socks_protocol',
  target: { plain: { socks5: 1080, socks5h: 1080, socks: 1080 } },
  talk: async (session, settings) => {
    const { trace } = session.context;
    await session.locate();
    const destination = await findDestination(session, settings);
    await session.open();
    await shakeHands(session, settings);
    const method = settings.username === undefined ? 'none' : 'username_password';
    session.note('method', method);
    trace?.('socks', `signed in (${method})`);
    if (destination === undefined) return;
    const where = named({ address: destination.host, port: destination.port });
    session.note('connected_to', where);
    const reply = await askToConnect(session, destination);
    if (reply !== 0)
      session.fail('socks_connect_failed', `${session.where} could not connect to ${where}: ${replyMeaning(reply)}.`);
    trace?.('socks', `the proxy connected to ${where}`);
  },
});

/** Where the proxy shall connect to, judged as far as it is an address, before anything is opened. */
async function findDestination(session: Session, settings: Socks5Settings): Promise<HostPort | undefined> {
  if (settings.connect_to === undefined) return undefined;
  const parsed = parseHostPort(settings.connect_to, onward);
  if (typeof parsed === 'string') throw new Error(`The settings were not validated: ${parsed}`);
  const host = parseHost(parsed.host);
  // A name that stands for this very machine, or one of the proxy's own, is never left to the proxy.
  if (host.kind === 'name' && settings.resolve_at === 'proxy' && !/(^|\.)(localhost|internal|local)$/.test(host.name))
    return { host: host.name, port: parsed.port };
  const located = await locate(parsed.host, parsed.port, session.context);
  if (!located.ok) throw new Ended(located.failure);
  return { host: located.endpoint.address, port: located.endpoint.port };
}
