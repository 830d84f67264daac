import type { Protocol } from '../registry.ts';

/** A target on loopback, with the settings that make a check ask for something. */
export type Pointed = { readonly url: string; readonly settings: object };

/** How each check type is pointed at a peer on loopback. A new type has to say so here. */
export const pointedAt: Record<Protocol, (port: number) => Pointed> = {
  http: (port) => ({ url: `http://127.0.0.1:${port}/`, settings: { keyword: 'never' } }),
  https: (port) => ({ url: `https://127.0.0.1:${port}/`, settings: {} }),
  tcp: (port) => ({ url: `127.0.0.1:${port}`, settings: { send: 'hello', expect: 'never' } }),
  dns: (port) => ({ url: 'www.test', settings: { server: `127.0.0.1:${port}` } }),
  ssl: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  tls: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  udp: (port) => ({ url: `127.0.0.1:${port}`, settings: { send: 'hello', expect: '!' } }),
  ntp: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  mqtt: (port) => ({ url: `127.0.0.1:${port}`, settings: { topic: 'a/b' } }),
  amqp: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  kafka: (port) => ({ url: `127.0.0.1:${port}`, settings: { topic: 'a' } }),
  gamedig: (port) => ({ url: `127.0.0.1:${port}`, settings: { game: 'minecraft_java' } }),
  nats: (port) => ({ url: `127.0.0.1:${port}`, settings: { subject: 'a.b' } }),
  whois: (port) => ({ url: 'example.test', settings: { whois_server: `127.0.0.1:${port}` } }),
  rdap: (port) => ({ url: 'example.test', settings: { rdap_server: `http://127.0.0.1:${port}/` } }),
  dnsbl: (port) => ({ url: '127.0.0.2', settings: { server: `127.0.0.1:${port}`, lists: ['list.test'] } }),
  socks5: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  smtp: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  imap: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  pop3: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  mssql: (port) => ({ url: `127.0.0.1:${port}`, settings: { username: 'u', password: 'secret' } }),
  postgres: (port) => ({ url: `127.0.0.1:${port}`, settings: { username: 'u', password: 'secret' } }),
  mysql: (port) => ({ url: `127.0.0.1:${port}`, settings: { username: 'u', password: 'secret' } }),
  ssh: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  sftp: (port) => ({ url: `127.0.0.1:${port}`, settings: { username: 'probe', password: 'secret' } }),
  redis: (port) => ({ url: `127.0.0.1:${port}`, settings: { password: 'secret' } }),
  ldap: (port) => ({ url: `127.0.0.1:${port}`, settings: { base_dn: '' } }),
  snmp: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  mtproxy: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  ftp: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  ftps: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  mongodb: (port) => ({ url: `127.0.0.1:${port}`, settings: { username: 'u', password: 'secret' } }),
  ws: (port) => ({ url: `ws://127.0.0.1:${port}/`, settings: { expect: 'never' } }),
  grpc: (port) => ({ url: `127.0.0.1:${port}`, settings: {} }),
  wss: (port) => ({ url: `wss://127.0.0.1:${port}/`, settings: {} }),
  radius: (port) => ({ url: `127.0.0.1:${port}`, settings: { secret: 's', username: 'u', password: 'p' } }),
  sip: (port) => ({ url: `127.0.0.1:${port}`, settings: { transport: 'tcp' } }),
  docker: (port) => ({ url: `tcp://127.0.0.1:${port}`, settings: { container: 'web' } }),
  api: (port) => ({ url: `http://127.0.0.1:${port}`, settings: { steps: [{ url: '/a' }] } }),
  // Without a port; `peerIs` says who the peer is.
  pagespeed: (port) => ({ url: `http://127.0.0.1:${port}/`, settings: {} }),
  icmp: () => ({ url: '127.0.0.1', settings: { count: 1 } }),
  ping: () => ({ url: '127.0.0.1', settings: { count: 1 } }),
  traceroute: () => ({ url: '127.0.0.1', settings: {} }),
};

/**
 * Who a peer is to the types that do not speak to a port of their target. `name server`: they send packets that every host answers alike, so
 * what can be hostile is who is asked for the name. `browser`: a browser takes longer to start than a short check lasts, and what the
 * check itself speaks to is the browser; pages have peers of their own in its test.
 */
export const peerIs: Partial<Record<Protocol, 'name server' | 'browser'>> = {
  icmp: 'name server',
  ping: 'name server',
  traceroute: 'name server',
  pagespeed: 'browser',
};
