import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import pg from 'pg';
import type { DatabaseUrls } from '../platform/database/pools.ts';

const scramIterations = 4_096;

/**
 * Gives the logins of requests and of workers the passwords that their URLs contain, where they have none yet: the migrations make
 * the roles, and a database that asks for passwords would let neither in. A password that is there is never changed.
 * @param urls of the three logins; nothing is done for a URL without password, nor where the owner may not see or set passwords
 */
export async function giveLoginsPasswords(urls: DatabaseUrls): Promise<void> {
  const wanted = [urls.api, urls.worker].flatMap((url) => {
    const login = passwordLogin(url);
    return login === undefined ? [] : [login];
  });
  if (wanted.length === 0) return;
  const client = new pg.Client({ connectionString: urls.owner });
  await client.connect();
  try {
    for (const { role, password } of wanted) {
      if (!(await lacksPassword(client, role))) continue;
      const verifier = scramVerifier(password, randomBytes(16));
      await client.query(`alter role ${client.escapeIdentifier(role)} password ${client.escapeLiteral(verifier)}`);
    }
  } finally {
    await client.end();
  }
}

async function lacksPassword(client: pg.Client, role: string): Promise<boolean> {
  const allowed = await client.query<{ allowed: boolean }>(
    "select has_table_privilege('pg_catalog.pg_authid', 'select') as allowed",
  );
  if (allowed.rows[0]?.allowed !== true) return false;
  const found = await client.query('select 1 from pg_authid where rolname = $1 and rolpassword is null', [role]);
  return found.rowCount === 1;
}

/** User and password of a URL; undefined where it has no password. By text: the host may be a percent-encoded path. */
export function passwordLogin(url: string): { readonly role: string; readonly password: string } | undefined {
  const match = /^postgres(?:ql)?:\/\/([^:@/]+):([^@/]+)@/.exec(url);
  if (match === null) return undefined;
  const [, role = '', password = ''] = match;
  return { role: decodeURIComponent(role), password: decodeURIComponent(password) };
}

/** What PostgreSQL stores of a password (RFC 5803 in its own spelling), so that the password itself reaches neither server nor log. */
export function scramVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password, salt, scramIterations, 32, 'sha256');
  const clientKey = createHmac('sha256', salted).update('Client Key').digest();
  const storedKey = createHash('sha256').update(clientKey).digest('base64');
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64');
  return `SCRAM-SHA-256$${scramIterations}:${Buffer.from(salt).toString('base64')}$${storedKey}:${serverKey}`;
}
