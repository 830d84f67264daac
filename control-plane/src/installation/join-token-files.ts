import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { sql } from '../platform/database/pools.ts';
import { readIfThere, writeWhole } from './whole-file.ts';

/** A token that would end sooner is replaced, so that what is handed out lasts for half a day at least. */
const keepMs = 12 * 3_600_000;
/** What stands in the file of a probe that needs no token any more; the agent's setting must not be empty. */
const noToken = 'not-needed:this-probe-is-registered';

/** A probe that shall be there, by its name. */
export type WantedProbe = { readonly name: string; readonly region: string };

/** `registered`: it needs no token; `kept`: its token is good; `written`: it has a new one. */
export type TokenFileOutcome = { readonly name: string; readonly outcome: 'registered' | 'kept' | 'written' };

export type JoinTokenFilesOptions = {
  readonly pool: CommonQueryMethods;
  readonly folder: string;
  readonly probes: readonly WantedProbe[];
  /** Fingerprint of the installation's authority: a token of another installation is none. */
  readonly fingerprint: string;
  readonly nowMs: number;
  /** Makes a token that lives for a day. */
  readonly create: (probe: WantedProbe) => Promise<string>;
};

/**
 * Sees to it that every probe finds a usable join token in `<folder>/<name>`, or is registered already. Safe to repeat: good tokens
 * are kept, used and ending ones of probes that never came are replaced.
 */
export async function provideJoinTokens(options: JoinTokenFilesOptions): Promise<readonly TokenFileOutcome[]> {
  await mkdir(options.folder, { recursive: true, mode: 0o711 });
  const outcomes: TokenFileOutcome[] = [];
  for (const probe of options.probes) {
    const file = path.join(options.folder, probe.name);
    outcomes.push({ name: probe.name, outcome: await provideOne(options, probe, file) });
  }
  return outcomes;
}

async function provideOne(
  options: JoinTokenFilesOptions,
  probe: WantedProbe,
  file: string,
): Promise<TokenFileOutcome['outcome']> {
  const present = (await readIfThere(file))?.trim();
  if (await isRegistered(options.pool, probe.name)) {
    if (present === undefined) await writeWhole(file, `${noToken}\n`, 0o400);
    return 'registered';
  }
  if (present !== undefined && (await isGood(options, probe, present))) return 'kept';
  await writeWhole(file, `${await options.create(probe)}\n`, 0o400);
  return 'written';
}

async function isRegistered(pool: CommonQueryMethods, name: string): Promise<boolean> {
  return pool.exists(sql.unsafe`
    select 1 from probes where name = ${name} and workspace_id is null and revoked_at is null`);
}

const tokenRow = z.object({ name: z.string(), region: z.string(), expires_at: z.number() });

async function isGood(options: JoinTokenFilesOptions, probe: WantedProbe, token: string): Promise<boolean> {
  const match = /^([1-9][0-9]{0,8})\.[\w-]+\.([0-9a-f]{64})$/.exec(token);
  if (match?.[2] !== options.fingerprint) return false;
  const row = await options.pool.maybeOne(sql.type(tokenRow)`
    select name, region, expires_at from join_tokens where id = ${Number(match[1])} and used_at is null`);
  return row?.name === probe.name && row.region === probe.region && row.expires_at > options.nowMs + keepMs;
}
