import { randomBytes } from 'node:crypto';
import type { ControlPlaneSettings } from '@parallax/settings';
import { InvalidArgumentError } from 'commander';
import { keySource } from './command-settings.ts';
import { databaseUrls } from './database-urls.ts';
import { openInstallation, provideJoinTokens, writeNatsFiles } from './installation/index.ts';
import type { OpenInstallation, TokenFileOutcome, WantedProbe } from './installation/index.ts';
import { createJoinToken } from './monitoring/probes/index.ts';
import { places } from './places.ts';
import { openDatabase } from './platform/database/pools.ts';
import type { Database } from './platform/database/pools.ts';

/** A place to listen at, from "host:port". */
export type ListenPlace = { readonly host: string; readonly port: number };

/** Options of `prepare` for a nats-server that is started by others. */
export type NatsFileFlags = {
  readonly natsDir?: string;
  readonly natsListen: ListenPlace;
  readonly natsMonitor?: ListenPlace;
};

/** Writes the files of a nats-server that is started by others; gives the names of those that changed. */
export async function runNatsFiles(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  flags: NatsFileFlags & { readonly natsDir: string },
): Promise<readonly string[]> {
  const { addresses, natsUrl } = places(settings);
  return withInstallation(settings, databaseUrl, ({ installation, database }) =>
    writeNatsFiles({
      installation,
      pool: database.worker,
      folder: flags.natsDir,
      listen: flags.natsListen,
      monitor: flags.natsMonitor,
      names: [...new Set([hostOf(addresses.broker), hostOf(natsUrl.replace(/^[a-z]+:\/\//, ''))])],
      nowMs: Date.now(),
    }),
  );
}

/** Sees to it that every named probe finds a usable join token in the folder, or is registered. */
export async function runProvideJoinTokens(
  settings: ControlPlaneSettings,
  databaseUrl: string,
  options: { readonly dir: string; readonly probe: readonly WantedProbe[] },
): Promise<readonly TokenFileOutcome[]> {
  return withInstallation(settings, databaseUrl, ({ installation, database }) => {
    const { fingerprint } = installation.authority;
    return provideJoinTokens({
      pool: database.worker,
      folder: options.dir,
      probes: options.probe,
      fingerprint,
      nowMs: Date.now(),
      create: async (probe) => {
        const created = await createJoinToken(database.worker, {
          ...probe,
          workspaceId: null,
          createdBy: null,
          minutes: 1_440,
          fingerprint,
          random: (count) => randomBytes(count),
        });
        return created.token;
      },
    });
  });
}

/** Reads "host:port", with brackets around an IPv6 address. */
export function listenPlace(text: string): ListenPlace {
  const match = /^(?:\[([^\]]+)\]|([^:\s]+)):([1-9][0-9]{0,4})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535)
    throw new InvalidArgumentError('host:port is expected, such as 0.0.0.0:4222');
  return { host, port };
}

/** Reads "name=region" and adds it to those that were given before. The name becomes the name of a file. */
export function wantedProbe(text: string, before: readonly WantedProbe[] = []): readonly WantedProbe[] {
  const match = /^([A-Za-z0-9][\w.-]{0,62})=([A-Za-z0-9][\w.-]{0,62})$/.exec(text);
  const [, name, region] = match ?? [];
  if (name === undefined || region === undefined)
    throw new InvalidArgumentError('name=region is expected, such as probe-eu=eu-west');
  return [...before, { name, region }];
}

async function withInstallation<Result>(
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
function hostOf(address: string): string {
  const place = address.slice(address.lastIndexOf('@') + 1).replace(/[/?].*$/, '');
  return place.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
}
