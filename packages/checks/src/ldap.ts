import { z } from 'zod';
import { lazily } from './lazily.ts';
import { encodeFilter, filterProblem } from './ldap/filter.ts';
import {
  bindRequest,
  type LdapMessage,
  resultName,
  searchRequest,
  searchScopes,
  takeMessage,
  unbindRequest,
} from './ldap/messages.ts';
import { askForTls } from './ldap/starttls.ts';
import { BerError } from './net/ber.ts';
import { addressFields, tlsFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import type { Session } from './net/session.ts';

/** Most messages of one search that are read beyond the entries asked for: references and answers to nobody. */
const spareMessages = 100;

/** Settings of `ldap`: without `base_dn` the bind is all. */
export const ldapSettings = lazily(() =>
  z.strictObject({
    ...addressFields(),
    ...tlsFields(),
    /** `starttls`: TLS before anything else, after a beginning in the clear. `implicit`: TLS from the first byte on, as `ldaps://` says too. */
    tls: z.enum(['none', 'starttls', 'implicit']).default('none'),
    /** Who binds; absent: anonymous. */
    bind_dn: z.string().max(1024).optional(),
    /** The password of `bind_dn`. */
    password: z.string().min(1).max(1024).optional(),
    /** Where to search; empty: the root entry, which every server has. */
    base_dn: z.string().max(1024).optional(),
    /** How far below `base_dn`: that entry, its children, or all below it. */
    search_scope: z.enum(searchScopes).default('base'),
    /** Which entries are looked for, as RFC 4515 writes it, without extensible matches. */
    filter: z
      .string()
      .min(3)
      .max(1024)
      .superRefine((text, context) => {
        const problem = filterProblem(text);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      })
      .default('(objectClass=*)'),
    /** Fewer entries than these fail the check. */
    min_entries: z.int().min(0).max(1000).default(1),
  }),
);
export type LdapSettings = z.infer<ReturnType<typeof ldapSettings>>;

/** A directory: bind and an optional search, in clear, with StartTLS or over TLS. Referrals are counted and never followed. */
export const ldap = conversation({
  type: 'ldap',
  summary: 'An LDAP directory: bind, optional search, StartTLS or ldaps',
  reference: {
    targets: ['ldaps://directory.example.com', 'ldap://directory.example.com'],
    settings: { base_dn: 'dc=example,dc=com' },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      entries: 'Entries that were found.',
      referrals: 'Referrals to other servers, which are not followed.',
      result: 'Result code of the search.',
    },
  },
  settings: ldapSettings,
  peer: 'an LDAP directory',
  codes: 'ldap_protocol',
  target: { plain: { ldap: 389 }, secure: { ldaps: 636 } },
  problem: (_target, { bind_dn: name = '', password }) =>
    // RFC 4513, section 5.1.2: a name without a password is no login, although servers accept it as one.
    name !== '' && password === undefined ? 'A bind with a name needs a password.' : undefined,
  talk: async (session, settings) => {
    await session.open();
    if (session.tls === 'starttls') {
      await askForTls(session);
      await session.startTls({ code: 'starttls_protocol' });
    }
    await bind(session, settings);
    if (settings.base_dn !== undefined) await search(session, settings.base_dn, settings);
    session.say(unbindRequest(3));
  },
});

async function bind(session: Session, { bind_dn: name, password = '' }: LdapSettings): Promise<void> {
  session.say(bindRequest(1, name ?? '', name === undefined ? '' : password));
  const { kind, result = 0 } = await answer(session, 1, 'an answer to the bind');
  if (kind !== 'bind') session.breach('It did not answer the bind.');
  session.context.trace?.('bind', result === 0 ? 'bound' : resultName(result));
  if (result !== 0) session.fail('ldap_bind', `${session.where} refused the bind (${resultName(result)}).`);
}

async function search(session: Session, base: string, settings: LdapSettings): Promise<void> {
  // One more than asked for would only be counted.
  const limit = Math.max(1, settings.min_entries);
  session.say(searchRequest(2, base, settings.search_scope, encodeFilter(settings.filter), limit));
  let entries = 0;
  let referrals = 0;
  for (let read = 0; read < limit + spareMessages; read += 1) {
    const { kind, result = 0 } = await answer(session, 2, 'an answer to the search');
    if (kind === 'entry') entries += 1;
    else if (kind === 'reference') referrals += 1;
    else if (kind !== 'search_done') session.breach('It did not answer the search.');
    session.note('entries', entries);
    session.note('referrals', referrals);
    if (kind !== 'search_done') continue;
    session.note('result', result);
    session.context.trace?.('search', `${entries} entries`);
    // sizeLimitExceeded is what was asked for; some servers call a limit of their own adminLimitExceeded when they have enough.
    const cutAsAsked = (result === 4 || result === 11) && entries >= limit;
    if (result !== 0 && !cutAsAsked)
      session.fail('ldap_result', `${session.where} could not search (${resultName(result)}).`);
    if (entries >= settings.min_entries) return;
    session.fail('ldap_result', `${entries} entries were found; expected are at least ${settings.min_entries}.`);
  }
  session.fail('ldap_protocol', `${session.where} sent more than was asked for.`);
}

/** The next message, which has to be the answer to this request: a notice of disconnection (number 0) ends the conversation. */
async function answer(session: Session, id: number, waitingFor: string): Promise<LdapMessage> {
  const message = await session.hear(waitingFor, (received) => {
    try {
      return takeMessage(received);
    } catch (error) {
      if (error instanceof BerError || error instanceof RangeError) session.breach('It sent no message of LDAP.');
      throw error;
    }
  });
  if (message.id === id) return message;
  if (message.id !== 0) session.breach('It answered another question than the one that was asked.');
  return session.fail('ldap_result', `${session.where} ended the session (${resultName(message.result ?? 0)}).`);
}
