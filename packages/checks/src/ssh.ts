import { z } from 'zod';
import { lazily } from './lazily.ts';
import { conversation } from './net/conversation.ts';
import { loadSsh, speakSsh } from './ssh/connection.ts';
import { sshConversation, sshFields, sshLoginIsWhole } from './ssh/settings.ts';

export const sshSettings = lazily(() => z.strictObject(sshFields()).refine(...sshLoginIsWhole));

/** An SSH server (RFC 4253): greeting, key exchange, key of the host, login by password or key. Opens no shell. */
export const ssh = conversation({
  ...sshConversation,
  type: 'ssh',
  summary: 'An SSH server: greeting, host key, login by password or key',
  reference: {
    targets: ['server.example.com', 'ssh://server.example.com:2222'],
    phases: ['dns', 'connect', 'first_byte', 'transfer'],
    details: {
      banner: 'What the server says first.',
      key_exchange: 'Algorithm of the key exchange.',
      cipher: 'Cipher towards the server.',
      host_key_type: 'Kind of the host key.',
      host_key_fingerprint: 'SHA-256 of the host key.',
    },
  },
  settings: sshSettings,
  prepare: loadSsh,
  talk: (session, settings) => speakSsh(session, settings),
});
