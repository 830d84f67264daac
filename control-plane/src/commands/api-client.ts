import { readFileSync } from 'node:fs';
import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { createClient } from '../monitoring/as-code/index.ts';
import type { Client } from '../monitoring/as-code/index.ts';
import type { Connection } from './connection-options.ts';
import { UsageError } from './usage-error.ts';

/**
 * The REST API with the token of the flags or the environment.
 * @throws UsageError without one
 */
export function clientOf(env: Environment, { url, tokenFile }: Connection): Client {
  const settings = readSettings(controlPlaneSettings, env);
  const token = (tokenFile === undefined ? settings.token : tokenIn(tokenFile))?.trim();
  if (token === undefined || token === '') {
    throw new UsageError('a token is needed: name its file by --token-file, or set PARALLAX_TOKEN');
  }
  // It goes into a header.
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw new UsageError('the token is none: it has spaces or other signs in it');
  return createClient(url ?? `http://127.0.0.1:${settings.httpPort}`, token);
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`the token cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
