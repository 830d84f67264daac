import { readFileSync } from 'node:fs';
import { controlPlaneSettings, readSettings } from '@parallax/settings';
import type { Environment } from '@parallax/settings';
import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { UsageError } from './command-settings.ts';
import { createClient } from './monitoring/as-code/index.ts';
import type { Client } from './monitoring/as-code/index.ts';

/** Where commands of the REST API find it, and as whom. */
export type Connection = { readonly url?: string; readonly tokenFile?: string; readonly workspace?: string };

/** Adds the options that such a command has. @param workspace what `--workspace` means to it */
export function withConnection(command: Command, workspace: string): Command {
  return command
    .option('--workspace <name|id>', workspace)
    .option('--url <url>', 'address of Parallax; http://127.0.0.1 with PARALLAX_HTTP_PORT when absent', address)
    .option('--token-file <file>', 'file of a personal access token or API key; else the variable PARALLAX_TOKEN');
}

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

function address(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== ''
  ) {
    throw new InvalidArgumentError(
      'an address such as https://parallax.example.com is expected, without a user or query',
    );
  }
  return text;
}
