import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { makeOnce, writeWhole } from './whole-file.ts';

/** The owner of the schema in a PostgreSQL that is set up for Parallax alone. */
export const databaseOwner = 'parallax_owner';

/** The three logins by the name that their files begin with; `api` and `worker` are the names that the migrations give. */
const logins = { owner: databaseOwner, api: 'parallax_api', worker: 'parallax_worker' } as const;
const urlFiles = { owner: 'database-url', api: 'database-api-url', worker: 'database-worker-url' } as const;

// The group may read: the account of PostgreSQL reads its own password there.
const fileMode = 0o440;

/**
 * Makes passwords for a new PostgreSQL and the URLs that contain them: `owner-password`, `api-password`, `worker-password`,
 * `database-url`, `database-api-url`, `database-worker-url`. A password is made once; a URL follows the place of the database.
 * @param options.place "host:port" of the database
 * @param options.random source of random bytes
 * @returns the names of the files that were written
 */
export async function makeDatabaseSecrets(options: {
  readonly folder: string;
  readonly place: string;
  readonly database: string;
  readonly random: (bytes: number) => Uint8Array;
}): Promise<readonly string[]> {
  const { folder, place, database, random } = options;
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const written: string[] = [];
  for (const login of Object.keys(logins) as (keyof typeof logins)[]) {
    const passwordFile = `${login}-password`;
    const made = Buffer.from(random(24)).toString('base64url');
    const password = await makeOnce(path.join(folder, passwordFile), made, fileMode);
    if (password === made) written.push(passwordFile);
    const url = `postgresql://${logins[login]}:${password}@${place}/${encodeURIComponent(database)}`;
    if (await writeWhole(path.join(folder, urlFiles[login]), url, fileMode)) written.push(urlFiles[login]);
  }
  return written;
}
