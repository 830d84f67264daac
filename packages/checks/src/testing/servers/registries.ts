import { createServer } from 'node:http';
import type { Test } from 'tap';
import { listen, listenRaw } from '../context.ts';
import type { Running } from './running.ts';

/** A registry's server; `asked` holds the questions that came, and `server` is how the settings name it. */
export type Registry = Running & { readonly server: string; readonly asked: readonly string[] };

/** What a WHOIS server of a registry answers about `example.test`. */
export const whoisText = (expiry: string): string => `Domain Name: EXAMPLE.TEST\r
Registrar WHOIS Server: whois.registrar.invalid\r
Registrar: Example Registrar, Inc.\r
Registry Expiry Date: ${expiry}\r
Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited\r
Name Server: NS2.EXAMPLE.TEST\r
Name Server: ns1.example.test.\r
>>> Last update of WHOIS database: 2026-01-01T00:00:00Z <<<\r
NOTICE: access is rate limited, too many queries are refused.\r
`;

/** A WHOIS server (RFC 3912) that answers each line with a text. */
export async function startWhois(t: Test, answer: (query: string) => string): Promise<Registry> {
  const asked: string[] = [];
  const peer = await listenRaw((socket) => {
    socket.once('data', (bytes) => {
      asked.push(bytes.toString());
      socket.end(answer(bytes.toString().trim()));
    });
  });
  t.teardown(peer.stop);
  const server = `127.0.0.1:${peer.port}`;
  return { port: peer.port, url: server, server, asked, stop: peer.stop };
}

/** An answer of RDAP (RFC 9083) about `example.test`. */
export const rdapDomain = (overrides: object = {}): object => ({
  objectClassName: 'domain',
  ldhName: 'example.test',
  status: ['client transfer prohibited'],
  events: [
    { eventAction: 'registration', eventDate: '2001-01-01T00:00:00Z' },
    { eventAction: 'expiration', eventDate: '2027-12-31T23:00:00Z' },
  ],
  nameservers: [{ ldhName: 'NS1.example.test' }, { ldhName: 'ns2.example.test.' }],
  entities: [
    { roles: ['registrant'] },
    {
      roles: ['registrar'],
      handle: '42',
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Example Registrar'],
        ],
      ],
    },
  ],
  ...overrides,
});

export type RdapAnswer = {
  readonly status?: number;
  readonly body?: unknown;
  readonly location?: string;
  readonly type?: string;
};

/** An RDAP server over plain HTTP. */
export async function startRdap(t: Test, answer: () => RdapAnswer): Promise<Registry> {
  const asked: string[] = [];
  const peer = await listen(
    createServer((request, response) => {
      asked.push(`${request.url} ${request.headers.accept}`);
      const { status = 200, body = rdapDomain(), location, type = 'application/rdap+json' } = answer();
      response.writeHead(status, { 'content-type': type, ...(location && { location }) });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    }),
  );
  t.teardown(peer.stop);
  const server = `http://127.0.0.1:${peer.port}/base`;
  return { port: peer.port, url: server, server, asked, stop: peer.stop };
}
