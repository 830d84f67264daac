import type { RoomChannel } from '@parallax/api-contract';
import type { Context } from '../../context.ts';
import type { Message } from '../messages/index.ts';
import type { AnySettings } from './channel.ts';
import { DeliveryError } from './delivery-error.ts';
import { channelOf } from './registry.ts';
import type { AnyChannel } from './registry.ts';
import { attempt } from './sending/attempt.ts';

/** What sending to a room needs. */
export type RoomContext = Pick<Context, 'outbound' | 'channels' | 'now' | 'publicUrl'>;

const key = 'room';

/** A room without a configuration: the URL of its webhook is all that the channel asks for. */
function settingsFor(channel: AnyChannel, url: string): AnySettings | undefined {
  const read = channel.settings.safeParse({ destinations: [{ key, name: key, url }] });
  return read.success ? read.data : undefined;
}

function channelFor(name: RoomChannel): AnyChannel {
  const channel = channelOf(name);
  if (channel === undefined) throw new Error(`there is no channel ${name}`);
  return channel;
}

/** What people call the service. */
export function roomTitle(name: RoomChannel): string {
  return channelFor(name).title;
}

/** Whether a URL may be the webhook of a room: some services have addresses of one form alone. */
export function isRoomUrl(name: RoomChannel, url: string): boolean {
  return settingsFor(channelFor(name), url) !== undefined;
}

/** Sends a message once to whoever reads a room, by the channel's own layout, limits and address policy. @throws DeliveryError */
export async function sendToRoom(
  { outbound, channels, now, publicUrl }: RoomContext,
  name: RoomChannel,
  url: string,
  message: Message,
): Promise<void> {
  const channel = channelFor(name);
  const settings = settingsFor(channel, url);
  if (settings === undefined)
    throw new DeliveryError('unknown_target', 'target', 'The address is none of the service.');
  const parts = {
    outbound,
    baseUrls: channels.baseUrls,
    now,
    publicUrl: publicUrl.replace(/\/+$/, ''),
    messengerBotToken: undefined,
    mail: () => Promise.reject(new DeliveryError('internal', 'message', 'A room takes no mail.')),
  };
  const outcome = await attempt(channel, parts, { settings, target: key, message, browsers: undefined });
  if (outcome.ok) return;
  throw outcome.defect ?? outcome.error;
}
