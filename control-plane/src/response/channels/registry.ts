import type { AnySettings, Channel } from './channel.ts';
import { webhook } from './kinds/webhook.ts';

/** A channel of which only the registry knows the settings. */
export type AnyChannel = Channel<AnySettings, unknown>;

/** Every way in which people are told: the only list. One line each, in the order of the reference. */
export const channels: readonly AnyChannel[] = [known(webhook)];

/** Settings go back only to the channel whose schema made them, so what they are is known where it matters. */
function known<Settings extends AnySettings, Content>(channel: Channel<Settings, Content>): AnyChannel {
  return channel as unknown as AnyChannel;
}

const byName = new Map(
  channels.flatMap((channel) => [channel.name, ...(channel.aliases ?? [])].map((name) => [name, channel])),
);

/** The channel of a name or an alias; undefined when there is none. */
export function channelOf(name: string): AnyChannel | undefined {
  return byName.get(name);
}

/** The neutral words of all channels. */
export const channelNames: readonly string[] = channels.map(({ name }) => name);
/** Neutral words and aliases: what requests may name. */
export const acceptedChannelNames: readonly string[] = [...byName.keys()];
