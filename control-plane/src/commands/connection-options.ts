import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';

/** Where commands of the REST API find it, and as whom. */
export type Connection = { readonly url?: string; readonly tokenFile?: string; readonly workspace?: string };

/** Adds the options that such a command has. @param workspace what `--workspace` means to it */
export function withConnection(command: Command, workspace: string): Command {
  return command
    .option('--workspace <name|id>', workspace)
    .option('--url <url>', 'address of Parallax; http://127.0.0.1 with PARALLAX_HTTP_PORT when absent', address)
    .option('--token-file <file>', 'file of a personal access token or API key; else the variable PARALLAX_TOKEN');
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
