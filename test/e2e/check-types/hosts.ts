import {
  mtproxyKey,
  startDanted,
  startDovecot,
  startExim,
  startFreeradius,
  startMtproxy,
  startSip,
  startSlapd,
  startSnmpd,
  startSshd,
  startVsftpd,
} from '@parallax/checks/testing';
import type { Case, World } from './case.ts';

const dovecotOf = (world: World) => world.once('dovecot', () => startDovecot(world.t, world));
const sshdOf = (world: World) => world.once('sshd', () => startSshd(world.t));

/** Mail, files, directories, remote access and proxies. */
export const hosts = {
  smtp: async (world: World): Promise<Case | undefined> => {
    const exim = await startExim(world.t, world);
    return exim && { url: exim.url, settings: secured(world, exim), stop: exim.stop };
  },
  imap: async (world: World): Promise<Case | undefined> => {
    const dovecot = await dovecotOf(world);
    return dovecot && { url: `127.0.0.1:${dovecot.imap}`, settings: secured(world, dovecot), stop: dovecot.stop };
  },
  pop3: async (world: World): Promise<Case | undefined> => {
    const dovecot = await dovecotOf(world);
    return (
      dovecot && { url: `pop3s://127.0.0.1:${dovecot.pop3s}`, settings: secured(world, dovecot), stop: dovecot.stop }
    );
  },
  ftp: async (world: World): Promise<Case | undefined> => {
    const files = await startVsftpd(world.t, { tls: 'none', certificate: world.certificate });
    if (files === undefined) return undefined;
    const { url, username, password, stop } = files;
    return { url, settings: { username, password, list_directory: '/' }, stop };
  },
  ftps: async (world: World): Promise<Case | undefined> => {
    const files = await startVsftpd(world.t, { tls: 'explicit', certificate: world.certificate });
    return files && { url: files.url, settings: { ...secured(world, files), list_directory: '/' }, stop: files.stop };
  },
  ssh: async (world: World): Promise<Case | undefined> => {
    const sshd = await sshdOf(world);
    if (sshd === undefined) return undefined;
    const settings = { username: sshd.username, private_key: sshd.key, host_key_fingerprints: [sshd.hostFingerprint] };
    return { url: sshd.url, settings, stop: sshd.stop };
  },
  sftp: async (world: World): Promise<Case | undefined> => {
    const sshd = await sshdOf(world);
    if (sshd === undefined) return undefined;
    const settings = { username: sshd.username, private_key: sshd.key, path: sshd.folder };
    return { url: sshd.url, settings, stop: sshd.stop };
  },
  ldap: async (world: World): Promise<Case | undefined> => {
    const slapd = await startSlapd(world.t, world);
    if (slapd === undefined) return undefined;
    const login = { bind_dn: slapd.bindDn, password: slapd.password, ca_certificates: world.authority };
    const search = { base_dn: 'dc=test', search_scope: 'one', filter: '(objectClass=person)', min_entries: 3 };
    return { url: slapd.secureUrl, settings: { ...login, ...search }, stop: slapd.stop };
  },
  radius: async ({ t }: World): Promise<Case | undefined> => {
    const server = await startFreeradius(t);
    if (server === undefined) return undefined;
    const { url, secret, username, password, stop } = server;
    return { url, settings: { secret, username, password }, stop };
  },
  snmp: async ({ t }: World): Promise<Case | undefined> => {
    const agent = await startSnmpd(t);
    const user = { version: '3', username: 'secret', auth_protocol: 'sha256', auth_password: 'authenticate me' };
    const settings = { ...user, priv_protocol: 'aes', priv_password: 'encrypt me too' };
    return agent && { url: agent.url, settings, stop: agent.stop };
  },
  socks5: async ({ t }: World): Promise<Case | undefined> => startDanted(t),
  mtproxy: async ({ t }: World): Promise<Case> => {
    const peer = await startMtproxy(t);
    return { url: `127.0.0.1:${peer.port}`, settings: { secret: mtproxyKey.toString('hex') }, stop: peer.stop };
  },
  sip: async ({ t }: World): Promise<Case> => startSip(t),
};

function secured(world: World, { username, password }: { readonly username: string; readonly password: string }) {
  return { username, password, ca_certificates: world.authority };
}
