import type { Authority } from '@parallax/pki';
import pg from 'pg';
import type { DatabasePool } from 'slonik';
import { createSealer } from '../platform/crypto/seal.ts';
import type { Keyring, Sealer } from '../platform/crypto/seal.ts';
import { migrate } from '../platform/database/migrate.ts';
import { openDatabase, sql } from '../platform/database/pools.ts';
import type { DatabaseUrls } from '../platform/database/pools.ts';
import { installationRow, requireSameKey, requireSameShards, sealKeyCheck } from './fixed.ts';
import type { InstallationRow } from './fixed.ts';
import { findKeys, makeKeyFile, requireKeys } from './key-encryption-key.ts';
import { loadAuthority, loadNatsAuthority, revokedProbeKeys } from './keys.ts';
import { giveLoginsPasswords } from './login-passwords.ts';

export type PrepareOptions = {
  readonly dataDir: string;
  /** 32 bytes, when the operator gives the key; else it is read from the data folder, or made there at the first start. */
  readonly keyEncryptionKey?: Uint8Array | undefined;
  readonly previousKeyEncryptionKey?: Uint8Array | undefined;
  readonly databaseUrls: DatabaseUrls;
  /** Shards of the ingest. Fixed by the first call. */
  readonly shards: number;
  /** DNS names and addresses that probes and the control plane dial the broker by, beside `localhost` and `parallax-control-plane`. */
  readonly serverNames: readonly string[];
  readonly nowMs: number;
};

/** What nats-server and `serve` need to start. Secrets: the key-encryption key, the TLS key and both credentials. */
export type PreparedInstallation = {
  /** Names of the migrations that ran. */
  readonly migrated: readonly string[];
  readonly keyEncryptionKey: Buffer;
  readonly sealer: Sealer;
  readonly shards: number;
  /** Certificate of the installation's authority, PEM; and its SHA-256, the last part of every join token. */
  readonly authorityPem: string;
  readonly authorityFingerprint: string;
  readonly nats: {
    /** As `startNats` of the embedded package takes them. */
    readonly operator: {
      readonly operatorJwt: string;
      readonly systemAccount: string;
      readonly accounts: Readonly<Record<string, string>>;
    };
    readonly tls: { readonly certificatePem: string; readonly keyPem: string };
    /** Texts of `.creds` files: of the control plane, and of the system account that pushes revocations. */
    readonly controlPlaneCredentials: string;
    readonly systemCredentials: string;
  };
};

/**
 * Makes an installation usable: the key-encryption key, the schema, what is fixed at installation, the authority and the
 * broker's keys. Safe to repeat, and at once by several processes.
 * @throws InstallationError, before anything is changed, for a wrong or missing key or another number of shards
 * @throws MigrationError when the schema cannot be brought up to date
 */
export async function prepareInstallation(options: PrepareOptions): Promise<PreparedInstallation> {
  const existing = await readInstallation(options.databaseUrls.owner);
  const [key, ...others] =
    existing === undefined
      ? ((await findKeys(options)) ?? (await makeKeyFile(options.dataDir)))
      : await requireKeys(options);
  const sealer = createSealer(key, others);
  if (existing !== undefined) {
    requireSameKey(existing, sealer);
    requireSameShards(existing, options.shards);
  }
  const migrated = await migrate(options.databaseUrls.owner);
  await giveLoginsPasswords(options.databaseUrls);
  const database = await openDatabase(options.databaseUrls, { api: 1, worker: 2 });
  try {
    await fixInstallation(database.worker, sealer, options.shards);
    const authority = await loadAuthority(database.worker, sealer, options.nowMs);
    return {
      migrated,
      keyEncryptionKey: key,
      sealer,
      shards: options.shards,
      authorityPem: authority.certificatePem,
      authorityFingerprint: authority.fingerprint,
      nats: await brokerMaterial(database.worker, sealer, authority, options),
    };
  } finally {
    await database.close();
  }
}

/** Through a connection of its own and before any migration, so that a wrong key changes nothing. */
async function readInstallation(ownerUrl: string): Promise<InstallationRow | undefined> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const table = await client.query<{ exists: boolean }>("select to_regclass('installation') is not null as exists");
    if (table.rows[0]?.exists !== true) return undefined;
    const rows = await client.query('select shards, key_check from installation');
    return rows.rows.length === 0 ? undefined : installationRow.parse(rows.rows[0]);
  } finally {
    await client.end();
  }
}

async function fixInstallation(pool: DatabasePool, sealer: Keyring, shards: number): Promise<void> {
  await pool.transaction(async (tx) => {
    await tx.query(sql.unsafe`
      insert into installation (shards, key_check)
      values (${shards}, ${sql.binary(sealKeyCheck(sealer))})
      on conflict (only_row) do nothing`);
    // Another process may have been first, with other settings.
    const fixed = await tx.one(sql.type(installationRow)`select shards, key_check from installation`);
    requireSameKey(fixed, sealer);
    requireSameShards(fixed, shards);
    await tx.query(sql.unsafe`
      insert into shards (shard) select generate_series(0, ${shards}::int - 1) on conflict (shard) do nothing`);
  });
}

async function brokerMaterial(
  pool: DatabasePool,
  sealer: Sealer,
  authority: Authority,
  options: PrepareOptions,
): Promise<PreparedInstallation['nats']> {
  const { nowMs } = options;
  const nats = await loadNatsAuthority(pool, sealer);
  const server = await authority.issueServerCertificate(options.serverNames, nowMs);
  return {
    operator: {
      operatorJwt: nats.operatorJwt(nowMs),
      systemAccount: nats.systemAccount,
      accounts: {
        [nats.systemAccount]: nats.systemAccountJwt(nowMs),
        ...nats.accountJwts(await revokedProbeKeys(pool), nowMs),
      },
    },
    tls: { certificatePem: server.chainPem, keyPem: server.keyPem },
    controlPlaneCredentials: nats.controlPlaneCredentials(nowMs),
    systemCredentials: nats.systemCredentials(nowMs),
  };
}
