import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { preparePostgres, runProcess } from '@parallax/embedded';
import { quietLog } from '@parallax/testkit';
import pg from 'pg';

/** What the official image of PostgreSQL is told by its environment. */
export type PostgresImage = {
  readonly volume: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/**
 * Does what the official image does, with the binaries of the embedded PostgreSQL: sets a new cluster up by a first server that
 * listens on a socket only, then listens by TCP and asks everybody there for a password.
 */
export async function startPostgresImage(image: PostgresImage): Promise<{ readonly stop: () => Promise<void> }> {
  const { spec, url } = await preparePostgres({ dataDir: image.volume, durable: false, log: quietLog });
  const first = await runProcess(spec);
  const admin = new pg.Client(url('postgres'));
  await admin.connect();
  try {
    const there = await admin.query('select 1 from pg_database where datname = $1', [image.database]);
    if (there.rowCount === 0) {
      const user = admin.escapeIdentifier(image.user);
      await admin.query(`alter role ${user} password ${admin.escapeLiteral(image.password)}`);
      await admin.query(`create database ${admin.escapeIdentifier(image.database)} owner ${user}`);
    }
  } finally {
    await admin.end();
    await first.stop();
  }
  writeFileSync(
    path.join(image.volume, 'postgres/pg_hba.conf'),
    'local all all trust\nhost all all all scram-sha-256\n',
  );
  const { spec: again } = await preparePostgres({ dataDir: image.volume, durable: false, log: quietLog });
  const listen = ['-c', `listen_addresses=${image.host}`, '-c', `port=${image.port}`];
  const running = await runProcess({ ...again, args: [...again.args, ...listen] });
  return { stop: () => running.stop().then(() => undefined) };
}

/** True when a PostgreSQL answers there, even if it only asks for a password, as `pg_isready` sees it. */
export async function answersAsPostgres(host: string, port: number): Promise<boolean> {
  const client = new pg.Client({
    host,
    port,
    user: 'nobody',
    database: 'none',
    password: 'none',
    connectionTimeoutMillis: 2_000,
  });
  try {
    await client.connect();
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError && error.code !== '57P03';
  } finally {
    await client.end().catch(() => undefined);
  }
}
