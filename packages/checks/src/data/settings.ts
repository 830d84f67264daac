import { lazily } from '../lazily.ts';
import { addressFields, loginFields, tlsFields } from '../net/connection-settings.ts';

/** Most bytes of one message of a database's server; no message of a check is as long. */
export const maxMessageBytes = 1024 * 1024;

/** Settings of every database. */
export const databaseFields = lazily(() => ({ ...addressFields(), ...loginFields(), ...tlsFields() }));

/** What databases have in common as conversations. Rows are counted apart; what stands around them has its own length. */
export const databaseConversation = { codes: 'db_protocol', maxBytes: 4 * maxMessageBytes } as const;
