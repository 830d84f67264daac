import { invalidInput } from '@parallax/api-contract';
import type { InputPath } from '@parallax/api-contract';
import { channelOf } from '../registry.ts';
import type { AnyChannel } from '../registry.ts';

/** The channel of a name or an alias. @throws Problem `invalid_input` */
export function requireChannel(name: string, path: InputPath): AnyChannel {
  const channel = channelOf(name);
  if (channel !== undefined) return channel;
  throw invalidInput('body', path, 'unknown_channel', `there is no channel ${name}; docs/channels.md lists them`);
}

/** The name of a channel that a query calls by it or by an alias. @throws Problem `invalid_input` */
export function channelNamed(name: string, path: InputPath): string {
  const channel = channelOf(name);
  if (channel !== undefined) return channel.name;
  throw invalidInput('query', path, 'unknown_channel', `there is no channel ${name}; docs/channels.md lists them`);
}
