import type { ControlPlaneSettings } from '@parallax/settings';
import { databaseUrls } from '../database-urls.ts';
// Not by the index of the installation: the supervisor, which keeps in memory what it loads, needs neither backups nor the exchange of keys.
import { openInstallation } from '../installation/open.ts';
import type { OpenInstallation } from '../installation/open.ts';
import { prepareInstallation } from '../installation/prepare.ts';
import type { PreparedInstallation } from '../installation/prepare.ts';
import { keySource } from '../key-source.ts';
import { places } from '../places.ts';
import { openDatabase } from '../platform/database/pools.ts';
import type { Database } from '../platform/database/pools.ts';

/** Migrates the database and makes the keys that are missing. */
export function prepare(settings: ControlPlaneSettings, databaseUrl: string): Promise<PreparedInstallation> {
  const { addresses } = places(settings);
  return prepareInstallation({
    ...keySource(settings),
    databaseUrls: databaseUrls(settings, databaseUrl),
    shards: settings.shards,
    serverNames: [...new Set([addresses.session, addresses.enrolment, addresses.broker].map(hostOf))],
    nowMs: Date.now(),
  });
}

/** Opens the installation and its database for the time of some work. */
export async function withInstallation<Result>(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  work: (opened: { readonly installation: OpenInstallation; readonly database: Database }) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(databaseUrls(settings, databaseUrl), { api: 1, worker: 1 });
  try {
    const installation = await openInstallation({ ...keySource(settings), pool: database.worker, nowMs: Date.now() });
    return await work({ installation, database });
  } finally {
    await database.close();
  }
}

/** "host" of "host:port" and "[v6]:port"; of a URL's authority also without its port and user. */
export function hostOf(address: string): string {
  const place = address.slice(address.lastIndexOf('@') + 1).replace(/[/?].*$/, '');
  return place.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
}
